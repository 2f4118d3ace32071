import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addMoney,
  cumulativeCost,
  decimalText,
  formatMoney,
  moneyJson,
  multiplyMoney,
  wholeSecondsBetween,
  windowCost,
} from './money.ts';

const usd = (micros: bigint) => ({ currency: 'USD', micros });
const prices = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(usd);
const seconds = fc.bigInt({ min: 0n, max: 10n ** 9n });

describe('money', () => {
  it('costs the same however a lease is cut into windows', () => {
    fc.assert(
      fc.property(prices, fc.array(seconds, { minLength: 1, maxLength: 30 }), (price, cuts) => {
        const edges = [0n, ...cuts].toSorted((a, b) => (a < b ? -1 : 1));
        const windows = edges.slice(1).map((to, index) => windowCost(price, edges[index]!, to));
        const total = windows.reduce(addMoney, usd(0n));
        expect(total).toEqual(cumulativeCost(price, edges.at(-1)!));
      }),
    );
  });

  it('never charges more than the price and never falls', () => {
    fc.assert(
      fc.property(prices, seconds, seconds, (price, a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const cost = windowCost(price, from, to).micros;
        expect(cost).toBeGreaterThanOrEqual(0n);
        // One micro-unit is the most that rounding can move from one window into the next.
        expect(cost * 3600n).toBeLessThanOrEqual(price.micros * (to - from) + 3600n);
        expect(cumulativeCost(price, 3600n)).toEqual(price);
      }),
    );
  });

  it('is exact where floats are not', () => {
    fc.assert(
      fc.property(prices, fc.integer({ min: 0, max: 16 }), (price, count) => {
        expect(multiplyMoney(price, count).micros).toBe(price.micros * BigInt(count));
      }),
    );
    expect(() => multiplyMoney(usd(1n), 0.5)).toThrow(RangeError);
    expect(() => moneyJson(usd(2n ** 53n))).toThrow(RangeError);
    expect(() => addMoney(usd(1n), { currency: 'EUR', micros: 1n })).toThrow('EUR');
  });

  it('reads back from its text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (micros) => {
        const text = decimalText(micros);
        expect(text).toMatch(/^-?\d+\.\d{6}$/);
        expect(BigInt(text.replace('.', ''))).toBe(micros);
      }),
    );
  });

  it('is written for people without losing a micro-unit', () => {
    expect(formatMoney(usd(2_990_000n))).toBe('$2.99');
    expect(formatMoney(usd(1n))).toBe('$0.000001');
    expect(formatMoney(usd(-1_234_567_890_000n))).toBe('-$1,234,567.89');
    expect(formatMoney({ currency: 'JPY', micros: 5_000_000n })).toBe('¥5');
    expect(formatMoney(usd(12_345_678_901_234_567_890n))).toBe('$12,345,678,901,234.56789');
  });

  it('counts whole seconds only, and none backwards', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: -1e6, max: 1e9 }), (start, ms) => {
        const counted = wholeSecondsBetween(new Date(start), new Date(start + ms));
        expect(counted).toBe(BigInt(Math.max(0, Math.floor(ms / 1000))));
      }),
    );
  });
});
