import { expect, it } from 'vitest';
import { isCompatible } from './warn-of-skew.ts';

it('takes releases for compatible until the number that may break something differs', () => {
  expect(isCompatible('1.2.3', '1.9.0')).toBe(true);
  expect(isCompatible('1.2.3', '2.0.0')).toBe(false);
  expect(isCompatible('0.1.0', '0.1.7')).toBe(true);
  expect(isCompatible('0.1.0', '0.2.0')).toBe(false);
  expect(isCompatible('0.1.0', 'nonsense')).toBe(false);
});
