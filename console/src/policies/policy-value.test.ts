import { expect, test } from 'vitest';
import type { Policy } from '../api/types.ts';
import { parsePolicyValue, formatPolicyValue, policyValueError } from './policy-value.ts';

const policy = (type: Policy['type'], more: Partial<Policy> = {}): Policy => ({
  name: 'a.b',
  type,
  unit: null,
  doc: '',
  default: 1,
  value: 1,
  source: 'default',
  clamped: false,
  set_value: null,
  settable: true,
  minimum: null,
  maximum: null,
  values: null,
  guard_rail: null,
  ...more,
});

test('values are formatted by their type', () => {
  expect(formatPolicyValue(policy('duration'), 14_400)).toBe('4h 0m (14,400 s)');
  expect(formatPolicyValue(policy('integer', { unit: 'days' }), 90)).toBe('90 days');
  expect(formatPolicyValue(policy('boolean'), false)).toBe('No');
  expect(formatPolicyValue(policy('list'), [])).toBe('none');
});

test('typed text is parsed by type or rejected', () => {
  expect(parsePolicyValue(policy('integer'), ' 12 ')).toBe(12);
  expect(parsePolicyValue(policy('integer'), '1.5')).toBeNull();
  expect(parsePolicyValue(policy('boolean'), 'false')).toBe(false);
  expect(parsePolicyValue(policy('list'), 'a, b')).toEqual(['a', 'b']);
});

test('a number outside its bounds is refused before it is sent', () => {
  const bounded = policy('duration', { minimum: 60, maximum: 600 });
  expect(policyValueError(bounded, '59')).toBe('At least 60.');
  expect(policyValueError(bounded, '601')).toBe('At most 600.');
  expect(policyValueError(bounded, '60')).toBeNull();
});
