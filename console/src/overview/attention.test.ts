import { expect, test } from 'vitest';
import type { Allocation, ProjectIncident, Spend } from '../api/types.ts';
import { attentionItems } from './attention.ts';

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
    accruing: false,
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
  held_for_reservations: usd(0),
  runs_out_at: null,
  standing,
  stops_at: null,
  grace_seconds: 0,
  at_zero: 'Leases are released.',
});

const titles = (allocations: Allocation[], money: Spend[] = []) =>
  attentionItems(allocations, [], money, NOW).map(({ title }) => title);

test('a healthy allocation needs no attention', () => {
  expect(titles([allocation({})], [spend('good')])).toEqual([]);
  expect(titles([allocation({ ends_at: '2026-01-02T05:00:00Z' })])).toEqual([]);
});

test('failures come before leases about to end and before queued launches', () => {
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
  ).toEqual(['Balance used up', 'stuck could not be released', 'ending ends in 30m 0s', 'waiting is queued']);
});

test('a failed launch is forgotten after a day, a machine that is not seen is not', () => {
  expect(titles([allocation({ state: 'failed' })])).toEqual(['llama failed to launch']);
  expect(titles([allocation({ state: 'failed', created_at: '2025-12-31T00:00:00Z' })])).toEqual([]);
  const unseen = { desired: 'active', observed: 'absent', execution: 'idle', projected: null } as const;
  expect(titles([allocation({ states: unseen })])).toEqual(['llama is not confirmed running']);
});

test('an incident names the affected allocations and whether an operator is working on it', () => {
  const incident: ProjectIncident = {
    id: 'i1',
    title: 'GPU failing on host',
    severity: 'major',
    state: 'open',
    allocation_ids: ['a1'],
    opened_at: '2026-01-01T23:00:00Z',
    acknowledged_at: null,
  };
  expect(attentionItems([allocation({})], [incident], [], NOW)).toEqual([
    {
      key: 'incident i1',
      tone: 'danger',
      title: 'GPU failing on host',
      detail: 'Affects llama. Operators have been notified.',
      allocationId: 'a1',
    },
  ]);
  expect(attentionItems([], [{ ...incident, state: 'acknowledged' }], [], NOW)[0]?.detail).toBe(
    'An operator is working on it.',
  );
});
