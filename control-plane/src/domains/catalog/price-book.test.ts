import fc from 'fast-check';
import { expect, it } from 'vitest';
import { priceAt, type PriceBookEntry, type Buyer } from './price-book.ts';

const START = Date.UTC(2026, 0, 1);
const day = (n: number): Date => new Date(START + n * 86_400_000);

const list = (id: string, from: number, micros: bigint): PriceBookEntry => ({
  id,
  organizationId: null,
  perGpuHour: { currency: 'USD', micros },
  effectiveFrom: day(from),
  effectiveUntil: null,
});

const tenant: Buyer = { organizationId: 'o', currency: 'USD', discountBasisPoints: 0 };

it('takes the list price that took effect last, and none before the first', () => {
  const book = [list('first', 10, 3_000_000n), list('later', 20, 2_000_000n), list('future', 30, 1n)];
  expect(priceAt(book, day(9), tenant)).toBeNull();
  expect(priceAt(book, day(10), tenant)).toMatchObject({ priceId: 'first' });
  expect(priceAt(book, day(29), tenant)).toMatchObject({ priceId: 'later' });
});

it('uses a tenant’s own price while it applies, without the discount, and for no other tenant', () => {
  const own = { ...list('own', 5, 1_000_000n), organizationId: 'o', effectiveUntil: day(15) };
  const book = [list('list', 0, 3_000_000n), own];
  const buyer = { ...tenant, discountBasisPoints: 1250 };
  expect(priceAt(book, day(6), buyer)).toEqual({ priceId: 'own', perGpuHour: own.perGpuHour });
  expect(priceAt(book, day(15), buyer)?.perGpuHour.micros).toBe(2_625_000n);
  expect(priceAt(book, day(6), { ...tenant, organizationId: 'p' })).toMatchObject({ priceId: 'list' });
  expect(priceAt(book, day(6), { ...tenant, organizationId: null })).toMatchObject({ priceId: 'list' });
});

it('quotes in the buyer’s currency alone', () => {
  expect(priceAt([list('list', 0, 1n)], day(1), { ...tenant, currency: 'AED' })).toBeNull();
});

it('gives the same price in any order of the book, never above the list price', () => {
  const price = fc.record({
    id: fc.uuid(),
    organizationId: fc.constantFrom(null, 'o', 'p'),
    perGpuHour: fc.record({ currency: fc.constantFrom('USD', 'AED'), micros: fc.bigInt(0n, 10n ** 12n) }),
    effectiveFrom: fc.integer({ min: 0, max: 30 }).map(day),
    effectiveUntil: fc.option(fc.integer({ min: 31, max: 60 }).map(day)),
  });
  const book = fc.uniqueArray(price, {
    selector: (p) => `${p.organizationId} ${p.perGpuHour.currency} ${p.effectiveFrom.getTime()}`,
  });
  fc.assert(
    fc.property(
      book,
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 10_000 }),
      (prices, at, off) => {
        const buyer = { ...tenant, discountBasisPoints: off };
        const chosen = priceAt(prices, day(at), buyer);
        expect(priceAt(prices.toReversed(), day(at), buyer)).toEqual(chosen);
        if (!chosen) return;
        const booked = prices.find(({ id }) => id === chosen.priceId)!;
        expect(chosen.perGpuHour.micros <= booked.perGpuHour.micros).toBe(true);
        if (booked.organizationId !== null || off === 0) expect(chosen.perGpuHour).toEqual(booked.perGpuHour);
      },
    ),
  );
});
