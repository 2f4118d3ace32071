import { expect, test } from 'vitest';
import {
  allocationKeys,
  catalogKeys,
  fleetKeys,
  operatorKeys,
  organizationKeys,
  ownKeys,
} from '../api/query-keys.ts';
import { appendEntry, timelineEntryOf } from './timeline-from-event.ts';
import { touchedKeys } from './touched-keys.ts';

function event(event_type: string, payload: Record<string, unknown>) {
  return {
    event_id: 'e1',
    event_type,
    occurred_at: '2026-01-01T00:00:00Z',
    version: 1,
    correlation_id: 'c',
    payload,
  };
}

test('a new state refreshes the allocation, the lists and the stock', () => {
  const keys = touchedKeys(event('allocation.active', { allocation_id: 'a1' }));
  expect(keys).toContainEqual(allocationKeys.one('a1'));
  expect(keys).toContainEqual(allocationKeys.lists);
  expect(keys).toContainEqual(catalogKeys.skus);
});

test('a machine of MAAS that came further refreshes its steps and the machines', () => {
  const keys = touchedKeys(event('node.onboarding_changed', { onboarding_id: 'o1' }));
  expect(keys).toEqual([operatorKeys.onboardings, operatorKeys.maasMachines]);
});

test('progress fetches nothing; the timeline takes it from the event, once', () => {
  const progress = event('allocation.progress', {
    allocation_id: 'a1',
    stage: 'image',
    status: 'running',
    message: 'Copying',
    percent: 40,
  });
  expect(touchedKeys(progress)).toEqual([]);
  const entry = timelineEntryOf(progress);
  expect(entry).toMatchObject({ event_id: 'e1', stage: 'image', percent: 40 });
  if (!entry) throw new Error('no entry');
  expect(appendEntry(appendEntry([], entry), entry)).toHaveLength(1);
});

test('a task of a node refreshes what its outcome tells, and no list', () => {
  const keys = touchedKeys(event('node.task_changed', { node_id: 'n1' }));
  for (const fact of ['tasks', 'discovery', 'readiness', 'drift', 'disks'] as const) {
    expect(keys).toContainEqual(fleetKeys[fact]('n1'));
  }
  expect(keys).not.toContainEqual(fleetKeys.nodes);
});

test('a notification refreshes the inbox, and a payment the money of its organization', () => {
  expect(touchedKeys(event('notification.created', {}))).toEqual([ownKeys.notifications]);
  const keys = touchedKeys(event('payments.balance_credited', { organization_id: 'o1' }));
  expect(keys).toContainEqual(organizationKeys.spend('o1'));
  expect(keys).toContainEqual(organizationKeys.payments('o1'));
});
