import { expect, it } from 'vitest';
import { leaseCost } from './accrual.ts';
import type { LeaseFacts, Meter } from './meter-lease.ts';

const at = (time: string): Date => new Date(`2026-11-15T${time}Z`);
const UNREACHABLE_SECONDS = 20;

/** Four GPUs for 0.90 an hour each, nothing recorded yet. */
const meter: Meter = {
  startedAt: at('10:00:00'),
  perHour: { currency: 'USD', micros: 3_600_000n },
  meteredSeconds: 0n,
  billedSeconds: 0n,
  billedMicros: 0n,
  records: 0n,
  seenRevision: 0n,
  endedAt: null,
  unprovenAfter: null,
};
const noon = at('12:00:00');
const cost = (facts: Partial<LeaseFacts>, meterNow = meter) => {
  const { total, isAccruing } = leaseCost(
    meterNow,
    { releaseRequestedAt: null, evidenceAt: noon, outages: [], ...facts },
    UNREACHABLE_SECONDS,
    noon,
  );
  return [Number(total.micros), isAccruing];
};

it('the cost of a lease leaves out time that was not served, as the bill does', () => {
  expect(cost({})).toEqual([7_200_000, true]);
  const lost = { served: false, beganAt: at('10:30:00'), endedAt: at('11:00:00'), revision: 1n };
  expect(cost({ outages: [lost] })).toEqual([5_400_000, true]);
  expect(cost({ outages: [{ ...lost, served: true }] })).toEqual([7_200_000, true]);
  expect(cost({ outages: [{ ...lost, endedAt: null }] })).toEqual([1_800_000, false]);
});

it('the cost of a lease stops at the last evidence of a silent host, and at the release request', () => {
  expect(cost({ evidenceAt: at('11:00:00') })).toEqual([3_600_000, false]);
  expect(cost({ evidenceAt: null })).toEqual([0, false]);
  expect(cost({ releaseRequestedAt: at('11:30:00') })).toEqual([5_400_000, false]);
});

it('the final cost of a lease is the billed cost', () => {
  const ended = { ...meter, meteredSeconds: 60n, billedSeconds: 60n, billedMicros: 60_000n, endedAt: noon };
  expect(cost({}, ended)).toEqual([60_000, false]);
});
