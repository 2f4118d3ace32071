import fc from 'fast-check';
import { expect, it } from 'vitest';
import { incrementsFor, counterKey, type Charge } from './counter.ts';
import { checkCharges, type CounterUsage } from './check-charges.ts';
import { effectiveLimit } from './effective-limit.ts';

const charge: fc.Arbitrary<Charge> = fc.record({
  organizationId: fc.constant('o'),
  projectId: fc.constantFrom('p1', 'p2'),
  launchedBy: fc.constantFrom('u1', 'u2', 'account'),
  ownerUserId: fc.constantFrom('u1', 'u2', null),
  gpuModel: fc.constantFrom('H200', 'B200'),
  gpus: fc.integer({ min: 1, max: 8 }),
  perHour: fc.record({ currency: fc.constantFrom('USD', 'AED'), micros: fc.bigInt(0n, 9n) }),
});

it('allows charges that fit one after the other and none that exceed, in any mix', () => {
  fc.assert(
    fc.property(
      fc.array(charge, { maxLength: 20 }),
      fc.bigInt(0n, 30n),
      fc.bigInt(0n, 30n),
      (charges, limit, used) => {
        const standings = new Map<string, CounterUsage>(
          charges
            .flatMap(incrementsFor)
            .map(({ counter }) => [counterKey(counter), { limit, used, setBy: 'policy' as const }]),
        );
        const held = new Map([...standings.keys()].map((key) => [key, used]));
        for (const [place, exceeded] of checkCharges(charges, standings).entries()) {
          const over = incrementsFor(charges[place]!).filter(
            ({ counter, amount }) => held.get(counterKey(counter))! + amount > limit,
          );
          expect(exceeded.map(({ counter }) => counterKey(counter))).toEqual(
            over.map(({ counter }) => counterKey(counter)),
          );
          for (const excess of exceeded) expect(excess.used).toBe(held.get(counterKey(excess.counter)));
          if (over.length > 0) continue;
          for (const { counter, amount } of incrementsFor(charges[place]!)) {
            held.set(counterKey(counter), held.get(counterKey(counter))! + amount);
          }
        }
      },
    ),
  );
});

it('takes the platform’s limit in place of the policy’s, and the tenant’s where it is smaller', () => {
  const policies = { get: () => 7 as never };
  const counter = {
    organizationId: 'o',
    holderType: 'project',
    holderId: 'p',
    measure: 'gpus',
    unit: 'H200',
  } as const;
  const limit = (platformLimit: bigint | null, tenantLimit: bigint | null) =>
    effectiveLimit(policies, counter, { platformLimit, tenantLimit });
  expect(limit(null, null)).toEqual({ limit: 7n, setBy: 'policy' });
  expect(limit(20n, null)).toEqual({ limit: 20n, setBy: 'platform' });
  expect(limit(20n, 30n)).toEqual({ limit: 20n, setBy: 'platform' });
  expect(limit(20n, 5n)).toEqual({ limit: 5n, setBy: 'tenant' });
  expect(limit(null, 5n)).toEqual({ limit: 5n, setBy: 'tenant' });
  const spend = { ...counter, measure: 'spend_per_hour', unit: 'USD' } as const;
  expect(effectiveLimit(policies, spend, { platformLimit: null, tenantLimit: null }).limit).toBe(7_000_000n);
});
