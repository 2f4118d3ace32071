import { expect, test } from 'vitest';
import {
  allocationKeys,
  appKeys,
  catalogKeys,
  fleetKeys,
  operatorKeys,
  organizationKeys,
  userKeys,
} from '../api/query-keys.ts';
import { queryKeysToRefresh } from './query-keys-to-refresh.ts';

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
  const keys = queryKeysToRefresh(event('allocation.active', { allocation_id: 'a1' }));
  expect(keys).toContainEqual(allocationKeys.one('a1'));
  expect(keys).toContainEqual(allocationKeys.lists);
  expect(keys).toContainEqual(allocationKeys.timeline('a1'));
  expect(keys).toContainEqual(catalogKeys.skus);
});

test('progress of a MAAS machine refreshes its steps and the machines', () => {
  const keys = queryKeysToRefresh(event('node.onboarding_changed', { onboarding_id: 'o1' }));
  expect(keys).toEqual([operatorKeys.onboardings, operatorKeys.maasMachines]);
});

test('progress refreshes the steps, and none of the lists', () => {
  const keys = queryKeysToRefresh(event('allocation.progress', { allocation_id: 'a1' }));
  expect(keys).toContainEqual(allocationKeys.timeline('a1'));
  expect(keys).not.toContainEqual(allocationKeys.lists);
  expect(keys).not.toContainEqual(catalogKeys.skus);
});

test('an event of a newer server refreshes nothing', () => {
  expect(queryKeysToRefresh(event('weather.changed', {}))).toEqual([]);
});

test('a node task refreshes what its outcome changes, and no list', () => {
  const keys = queryKeysToRefresh(event('node.task_changed', { node_id: 'n1' }));
  for (const fact of ['tasks', 'discovery', 'readiness', 'drift', 'disks'] as const) {
    expect(keys).toContainEqual(fleetKeys[fact]('n1'));
  }
  expect(keys).not.toContainEqual(fleetKeys.nodes);
});

test('a notification refreshes the inbox, and a payment the balance of its organization', () => {
  expect(queryKeysToRefresh(event('notification.created', {}))).toEqual([userKeys.notifications]);
  const keys = queryKeysToRefresh(event('payments.balance_credited', { organization_id: 'o1' }));
  expect(keys).toContainEqual(organizationKeys.spend('o1'));
  expect(keys).toContainEqual(organizationKeys.payments('o1'));
});

test('an event of an app instance refreshes its page and the list of its project', () => {
  const keys = queryKeysToRefresh(event('app_instance.event', { app_instance_id: 'i1', project_id: 'p1' }));
  for (const key of [appKeys.one('i1'), appKeys.events('i1'), appKeys.members('i1'), appKeys.list('p1')])
    expect(keys).toContainEqual(key);
  expect(keys).not.toContainEqual(appKeys.list('p2'));
});
