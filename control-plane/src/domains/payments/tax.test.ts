import { expect, it } from 'vitest';
import { taxIn, withTax } from './tax.ts';

it('is the part of a payment that comes on top of what is bought', () => {
  expect(taxIn(105_000_000n, 500)).toBe(5_000_000n);
  expect(taxIn(119_000_000n, 1900)).toBe(19_000_000n);
  expect(taxIn(100n, 0)).toBe(0n);
});

it('comes on top again', () => {
  expect(withTax(100_000_000n, 500)).toBe(105_000_000n);
});

it('never takes more than the share, and gives back what it took', () => {
  expect(taxIn(10n, 1900)).toBe(1n);
  expect(taxIn(-10n, 1900)).toBe(-1n);
});
