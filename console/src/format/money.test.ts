import { expect, test } from 'vitest';
import { formatMoney, parseMicros, addMoney, costOver, multiplyMoney } from './money.ts';

const usd = (micros: number) => ({ currency: 'USD', micros });

test('an amount is exact, with further decimals only if needed', () => {
  expect(formatMoney(usd(3_490_000))).toBe('$3.49');
  expect(formatMoney(usd(20_000_000))).toBe('$20.00');
  expect(formatMoney(usd(1_234_567_800_001))).toBe('$1,234,567.800001');
  expect(formatMoney(usd(1))).toBe('$0.000001');
  expect(formatMoney(usd(-500_000))).toBe('−$0.50');
  expect(formatMoney({ currency: 'CHF', micros: 1_500_000 })).toBe('CHF 1.50');
});

test('a fixed number of decimals rounds half up', () => {
  expect(formatMoney(usd(348_833), 2)).toBe('$0.35');
  expect(formatMoney(usd(19_900), 2)).toBe('$0.02');
  expect(formatMoney(usd(999_999), 4)).toBe('$1.0000');
  expect(formatMoney(usd(-4_000), 2)).toBe('$0.00');
  expect(formatMoney(usd(0), 4)).toBe('$0.0000');
});

test('a price over a period is rounded down to the micro', () => {
  expect(costOver(usd(3_490_000), 3_600_000)).toEqual(usd(3_490_000));
  expect(costOver(usd(3_490_000), 1_000)).toEqual(usd(969));
});

test('sums and multiples stay exact', () => {
  expect(multiplyMoney(usd(3_490_000), 730 * 8)).toEqual(usd(20_381_600_000));
  expect(addMoney(usd(1), usd(2))).toEqual(usd(3));
});

test('a typed amount is parsed exactly or rejected', () => {
  expect(parseMicros('3.49')).toBe(3_490_000);
  expect(parseMicros(' 500 ')).toBe(500_000_000);
  expect(parseMicros('-0.000001')).toBe(-1);
  expect(parseMicros('0')).toBe(0);
  for (const no of ['', '1,000', '1.1234567', 'ten', '1e3', '.5']) expect(parseMicros(no)).toBeNull();
});
