import { expect, it } from 'vitest';
import { isCompatible } from './version-skew.ts';

it('treats releases as compatible until the breaking number differs', () => {
  expect(isCompatible('1.2.3', '1.9.0')).toBe(true);
  expect(isCompatible('1.2.3', '2.0.0')).toBe(false);
  expect(isCompatible('0.1.0', '0.1.7')).toBe(true);
  expect(isCompatible('0.1.0', '0.2.0')).toBe(false);
  expect(isCompatible('0.1.0', 'nonsense')).toBe(false);
});
