import { describe, expect, it } from 'vitest';
import type { QuotaExcess } from '../../../quotas/check-charges.ts';
import { firstClosedGate, type Snapshot } from './gates.ts';

const open: Snapshot = {
  offered: true,
  refusal: null,
  missingSecrets: [],
  quota: [],
  exhausted: null,
  capacity: { state: 'active', desiredState: 'active', observedState: 'running' },
  liveClaims: 1,
};

const excess: QuotaExcess = {
  counter: { organizationId: 'o', holderType: 'project', holderId: 'p', measure: 'app_instances', unit: '' },
  used: 3n,
  limit: 3n,
  asked: 1n,
  setBy: 'tenant',
};

const exhausted = {
  id: 'b',
  scopeType: 'project',
  currency: 'USD',
  monthlyMicros: 10_000_000n,
  spentMicros: 11_000_000n,
} as const;

describe('gates', () => {
  it('let an instance through when all are open', () => {
    expect(firstClosedGate(open)).toBeNull();
  });

  it.each<[string, Partial<Snapshot>, object]>([
    ['policy', { missingSecrets: ['KEY'] }, { gate: 'policy', outcome: 'reject', reason: 'rejected' }],
    ['policy', { offered: false }, { gate: 'policy', outcome: 'reject' }],
    [
      'policy',
      { refusal: { reason: 'untrusted', message: 'It is not trusted.' } },
      { gate: 'policy', outcome: 'reject', reason: 'untrusted', message: 'It is not trusted.' },
    ],
    [
      'quota',
      { quota: [excess] },
      { gate: 'quota', outcome: 'wait', reason: 'quota', message: 'The project runs 3 of 3 app instances.' },
    ],
    ['budget', { exhausted }, { gate: 'budget', outcome: 'wait', reason: 'budget' }],
    [
      'capacity',
      { capacity: { ...open.capacity, state: 'provisioning' } },
      { gate: 'capacity', outcome: 'wait', reason: 'capacity' },
    ],
    [
      'capacity',
      { capacity: { ...open.capacity, observedState: 'absent' } },
      { gate: 'capacity', outcome: 'wait' },
    ],
    [
      'capacity',
      { capacity: { ...open.capacity, desiredState: 'released' } },
      { gate: 'capacity', outcome: 'reject' },
    ],
    ['capacity', { liveClaims: 0 }, { gate: 'capacity', outcome: 'reject' }],
  ])('close at %s', (_, closed, expected) => {
    expect(firstClosedGate({ ...open, ...closed })).toMatchObject(expected);
  });

  it('show the first that is closed', () => {
    const closed = { ...open, quota: [excess], exhausted, liveClaims: 0 };
    expect(firstClosedGate(closed)?.gate).toBe('quota');
    expect(firstClosedGate({ ...closed, quota: [] })?.gate).toBe('budget');
    expect(firstClosedGate({ ...closed, quota: [], exhausted: null })?.gate).toBe('capacity');
  });

  it('give the numbers of the decision', () => {
    expect(firstClosedGate({ ...open, exhausted })?.facts).toMatchObject({
      monthly: { currency: 'USD', micros: 10_000_000 },
      spent: { currency: 'USD', micros: 11_000_000 },
    });
  });
});
