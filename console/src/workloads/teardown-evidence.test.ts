import { expect, test } from 'vitest';
import type { AppInstanceEvent } from '../api/types.ts';
import { evidenceOf } from './teardown-evidence.ts';

function proved(
  payload: AppInstanceEvent['payload'],
  event_type: AppInstanceEvent['event_type'] = 'teardown_proved',
) {
  const event = { id: 'e1', message: '', member_id: 'm1', reason: null, occurred_at: '2026-01-01T00:00:00Z' };
  return evidenceOf({ ...event, event_type, payload });
}

const seen = { proof: 'observed', processes: 0, ports: [], files: false, forced: true, observed_at: 'now' };

test('evidence has what was counted in the machine', () => {
  expect(proved(seen)).toEqual({
    proof: 'observed',
    processes: 0,
    ports: 0,
    files: false,
    forced: true,
    at: 'now',
  });
  expect(proved({ proof: 'wiped', certificate_ids: ['c1', 'c2'] })).toEqual({
    proof: 'wiped',
    certificates: 2,
  });
  expect(proved({ proof: 'never_started' })).toEqual({ proof: 'never_started' });
});

test('other events, and a payload with a part missing, are no evidence', () => {
  expect(proved(seen, 'teardown_open')).toBeNull();
  expect(proved({ proof: 'observed', processes: 0 })).toBeNull();
  expect(proved({ proof: 'promised' })).toBeNull();
});
