import { expect, it } from 'vitest';
import type { UtilisationStep } from '../../api/billing/reports.ts';
import { fleetOverTime } from './fleet-over-time.ts';

const step = (change: Partial<UtilisationStep>): UtilisationStep => ({
  at: '2026-01-01T00:00:00.000Z',
  region: 'north',
  gpu_model: 'm',
  samples: 1,
  approved: 10,
  sold: 5,
  available: 5,
  sold_percent: 50,
  busy_percent: 40,
  ...change,
});

it('weighs regions by total and leased slots', () => {
  const steps = [step({}), step({ region: 'south', approved: 30, sold: 15, busy_percent: 80 })];
  expect(fleetOverTime(steps)).toEqual([{ at: steps[0]!.at, soldPercent: 50, busyPercent: 70 }]);
});

it('is null for utilisation that no host can measure', () => {
  expect(fleetOverTime([step({ busy_percent: null })])[0]!.busyPercent).toBeNull();
});
