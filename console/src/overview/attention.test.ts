import { expect, test } from 'vitest';
import type { Allocation, ProjectIncident, Spend } from '../api/types.ts';
import { attentionOf } from './attention.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const usd = (micros: number) => ({ currency: 'USD', micros });

function allocation(change: Partial<Allocation>): Allocation {
  return {
    id: 'a1',
    resource_name: 'r',
    name: 'llama',
    organization_id: 'o',
    project_id: 'p',
    sku: 's',
    capacity_shape: 'gpu_slice',
    gpu_count: 1,
    image: 'i',
    region: 'north',
    tags: [],
    state: 'active',
    states: { desired: 'active', observed: 'running', execution: 'idle', projected: null },
    quote: { per_gpu_hour: usd(1), per_hour: usd(1) },
    cost_so_far: usd(0),
    created_at: '2026-01-01T23:00:00Z',
    active_at: null,
    release_requested_at: null,
    released_at: null,
    ends_at: null,
    root_granted_at: null,
    queue: null,
    failure: null,
    ...change,
  };
}

const spend = (standing: Spend['standing']): Spend => ({
  per_hour: usd(1),
  accrued: usd(0),
  balance: usd(1),
  credit_line: usd(0),
  available: usd(1),
  runs_out_at: null,
  standing,
  stops_at: null,
  grace_seconds: 0,
  at_zero: 'Leases are released.',
});

const titles = (allocations: Allocation[], money: Spend[] = []) =>
  attentionOf(allocations, [], money, NOW).map(({ title }) => title);

test('what is well needs no attention', () => {
  expect(titles([allocation({})], [spend('good')])).toEqual([]);
  expect(titles([allocation({ ends_at: '2026-01-02T05:00:00Z' })])).toEqual([]);
});

test('what is lost comes before what is going to end and before what waits', () => {
  const queue = {
    position: 1,
    reason: 'capacity' as const,
    detail: 'No node has room.',
    expected_at: null,
    queued_at: '2026-01-01T23:00:00Z',
    expires_at: '2026-01-03T00:00:00Z',
  };
  expect(
    titles(
      [
        allocation({ name: 'waiting', state: 'queued', queue }),
        allocation({ name: 'ending', ends_at: '2026-01-02T00:30:00Z' }),
        allocation({ name: 'stuck', state: 'release_failed' }),
      ],
      [spend('exhausted')],
    ),
  ).toEqual([
    'The balance is used up',
    'stuck could not be released',
    'ending ends in 30m 0s',
    'waiting waits in line',
  ]);
});

test('a failed launch is forgotten after a day, a machine that is not seen is not', () => {
  expect(titles([allocation({ state: 'failed' })])).toEqual(['llama did not come up']);
  expect(titles([allocation({ state: 'failed', created_at: '2025-12-31T00:00:00Z' })])).toEqual([]);
  const unseen = { desired: 'active', observed: 'absent', execution: 'idle', projected: null } as const;
  expect(titles([allocation({ states: unseen })])).toEqual(['llama is not seen running']);
});

test('an incident names the allocations it touches and says whether somebody is on it', () => {
  const incident: ProjectIncident = {
    id: 'i1',
    title: 'A host reports a failing GPU',
    severity: 'major',
    state: 'open',
    allocation_ids: ['a1'],
    opened_at: '2026-01-01T23:00:00Z',
    acknowledged_at: null,
  };
  expect(attentionOf([allocation({})], [incident], [], NOW)).toEqual([
    {
      key: 'incident i1',
      tone: 'danger',
      title: 'A host reports a failing GPU',
      detail: 'Touches llama. Operators have been told.',
      allocationId: 'a1',
    },
  ]);
  expect(attentionOf([], [{ ...incident, state: 'acknowledged' }], [], NOW)[0]?.detail).toBe(
    'An operator works on it.',
  );
});
