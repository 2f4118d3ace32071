import { expect, it } from 'vitest';
import { includedTax, addTax } from './tax.ts';

it('is the part of a payment that comes on top of what is bought', () => {
  expect(includedTax(105_000_000n, 500)).toBe(5_000_000n);
  expect(includedTax(119_000_000n, 1900)).toBe(19_000_000n);
  expect(includedTax(100n, 0)).toBe(0n);
});

it('comes on top again', () => {
  expect(addTax(100_000_000n, 500)).toBe(105_000_000n);
});

it('never takes more than the share, and gives back what it took', () => {
  expect(includedTax(10n, 1900)).toBe(1n);
  expect(includedTax(-10n, 1900)).toBe(-1n);
});
