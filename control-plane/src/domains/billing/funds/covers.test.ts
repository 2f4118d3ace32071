import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../platform/http/problem.ts';
import { fixedPolicies } from '../../../platform/policy/testing.ts';
import { graceSeconds } from './zero-balance-notice.ts';
import { costFor, covers, keptBeside, type Commitments } from './covers.ts';
import { decideStanding, type Standing } from './decide-standing.ts';
import { refuseUnfunded } from './require-funds.ts';
import { runsOutAt, type TenantFunds } from './tenant-funds.ts';

const HOUR = 3600;
const kept = (projectId: string, nodeIds: string[], perHourMicros: bigint) => ({
  projectId,
  nodeIds,
  perHourMicros,
});

describe('covers', () => {
  it.each<[string, Parameters<typeof covers>, boolean]>([
    ['exactly an hour of the running leases', [100n, 100n, HOUR, 0n, HOUR], true],
    ['a micro less', [99n, 100n, HOUR, 0n, HOUR], false],
    ['unused reservations come on top', [100n, 100n, HOUR, 1n, HOUR], false],
    ['each for its own period', [500n, 100n, HOUR, 100n, 4 * HOUR], true],
    ['a debt covers nothing', [-1n, 0n, HOUR, 0n, HOUR], false],
  ])('%s', (_, values, answer) => {
    expect(covers(...values)).toBe(answer);
  });

  it('lets launches use reservations of their project on the reserved nodes, and no others', () => {
    const all = [kept('p', ['a', 'b'], 80n), kept('p', ['c'], 40n), kept('q', ['d'], 20n)];
    const launch = (projectId: string, nodeId: string | null, micros: bigint) => ({
      projectId,
      nodeId,
      micros,
    });
    expect(keptBeside(all, [])).toBe(140n);
    expect(keptBeside(all, [launch('p', 'a', 30n), launch('p', 'b', 30n)])).toBe(80n);
    expect(keptBeside(all, [launch('p', 'a', 200n)])).toBe(60n);
    expect(keptBeside(all, [launch('p', 'e', 30n), launch('q', 'a', 30n)])).toBe(140n);
  });

  it('lets a launch without a node use any reservation of its project', () => {
    const all = [kept('p', ['a'], 80n), kept('q', ['b'], 20n)];
    expect(keptBeside(all, [{ projectId: 'p', nodeId: null, micros: 30n }])).toBe(70n);
  });
});

type Step =
  | { do: 'launch'; gpus: number }
  | { do: 'release'; which: number }
  | { do: 'top up'; micros: bigint }
  | { do: 'price'; micros: bigint }
  | { do: 'wait'; seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('launch' as const), gpus: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('top up' as const), micros: fc.bigInt(1n, 50_000_000n) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('price' as const), micros: fc.bigInt(1n, 9_000_000n) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 7200 }) }),
  },
);

/** How often balances are checked. */
const LOOK = 30;

/** A tenant whose leases cost by the second, decided by the production code. */
class Tenant {
  readonly policies;
  readonly paid: boolean;
  readonly leases: bigint[] = [];
  balance = 0n;
  price = 2_990_000n;
  before: { standing: Standing; stopsAt: Date | null } = { standing: 'good', stopsAt: null };
  seconds = 0;

  constructor(paid: boolean, policies: { grace: number; horizon: number; credit: number }) {
    this.paid = paid;
    this.policies = fixedPolicies({
      'billing.grace_seconds': policies.grace,
      'billing.minimum_launch_seconds': policies.horizon,
      'billing.credit_line_micros': policies.credit,
    });
  }

  get credit(): bigint {
    return BigInt(this.policies.get('billing.credit_line_micros'));
  }

  get rate(): bigint {
    return this.leases.reduce((sum, one) => sum + one, 0n);
  }

  launch(gpus: number): boolean {
    const perHour = { currency: 'USD', micros: this.price * BigInt(gpus) };
    const funds: TenantFunds = {
      organizationId: 'o',
      currency: 'USD',
      balanceMicros: this.balance,
      perHourMicros: this.rate,
      accruedMicros: 0n,
      paid: this.paid,
    };
    // Half of them are not metered yet.
    const running = this.leases.filter((_, index) => index % 2 === 0).reduce((sum, one) => sum + one, 0n);
    const bound: Commitments = { runningMicros: running, pendingMicros: this.rate - running, kept: [] };
    try {
      refuseUnfunded(this.policies, { organizationId: 'o', projectId: 'p', perHour }, [funds], bound);
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
    this.leases.push(perHour.micros);
    return true;
  }

  /** Time passes until the next check of the balance. */
  look(seconds: number): void {
    this.balance -= costFor(this.rate, seconds);
    this.seconds += seconds;
    const now = new Date(this.seconds * 1000);
    const available = this.balance + this.credit;
    this.before = decideStanding({
      available,
      runsOutAt: runsOutAt(available, this.rate, now),
      before: this.before,
      warnSeconds: 0,
      graceSeconds: graceSeconds(this.policies, 'o', this.paid),
      now,
    });
    if (this.before.standing === 'stopped') this.leases.length = 0;
  }
}

describe('whatever a tenant does', () => {
  it('it never owes more than its credit line and the grace, at a rate that it once could pay', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.record({
          grace: fc.integer({ min: 0, max: 7200 }),
          horizon: fc.integer({ min: LOOK, max: 7200 }),
          credit: fc.integer({ min: 0, max: 20_000_000 }),
        }),
        fc.array(step, { maxLength: 40 }),
        (paid, policies, steps) => {
          const tenant = new Tenant(paid, policies);
          let paidIn = tenant.credit;
          for (const one of steps) {
            if (one.do === 'top up') {
              tenant.balance += one.micros;
              paidIn += one.micros;
            }
            if (one.do === 'price') tenant.price = one.micros;
            if (one.do === 'release') tenant.leases.splice(one.which % Math.max(1, tenant.leases.length), 1);
            if (one.do === 'launch' && tenant.launch(one.gpus)) {
              // The funds cover the new launch together with everything else, for the period of the policy.
              expect(tenant.balance + tenant.credit).toBeGreaterThanOrEqual(
                costFor(tenant.rate, policies.horizon),
              );
            }
            if (one.do === 'wait') {
              for (let left = one.seconds; left > 0; left -= LOOK) tenant.look(Math.min(LOOK, left));
            }
            // The funds at the last launch bound the rate; leases then run unpaid for at most the grace and
            // two checks.
            const unpaid = BigInt((paid ? policies.grace : 0) + 2 * LOOK);
            const allowed = ((paidIn + 1n) * unpaid) / BigInt(policies.horizon) + 1n;
            expect(-tenant.balance).toBeLessThanOrEqual(tenant.credit + allowed);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
