import { expect, it } from 'vitest';
import { describeAllocation } from './describe-allocation.ts';
import type { AllocationRow } from './move-allocation.ts';

const at = (time: string): Date => new Date(`2026-11-15T${time}Z`);
const id = '0198a000-0000-7000-8000-000000000001';

/** Four GPUs for 0.90 an hour each. */
const row = {
  id,
  organization_id: id,
  project_id: id,
  region: 'uae-north-1',
  currency: 'USD',
  per_gpu_hour_micros: 900_000n,
  gpu_count: 4,
  created_at: at('09:59:00'),
  active_at: at('10:00:00'),
  release_requested_at: null,
} as AllocationRow;

it('what a lease has cost leaves out what was not served, as the bill does', () => {
  const cost = (outages: Parameters<typeof describeAllocation>[4]) =>
    describeAllocation(row, at('12:00:00'), null, null, outages).cost_so_far.micros;
  expect(cost([])).toBe(7_200_000);
  const lost = { served: false, beganAt: at('10:30:00'), endedAt: at('11:00:00') };
  expect(cost([lost])).toBe(5_400_000);
  expect(cost([{ ...lost, served: true }])).toBe(7_200_000);
  expect(cost([{ ...lost, endedAt: null }])).toBe(1_800_000);
});
