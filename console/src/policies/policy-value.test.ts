import { expect, test } from 'vitest';
import type { Policy } from '../api/types.ts';
import { readValue, sayValue, valueRefusal } from './policy-value.ts';

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

test('values are said in the words of their kind', () => {
  expect(sayValue(policy('duration'), 14_400)).toBe('4h 0m (14,400 s)');
  expect(sayValue(policy('integer', { unit: 'days' }), 90)).toBe('90 days');
  expect(sayValue(policy('boolean'), false)).toBe('No');
  expect(sayValue(policy('list'), [])).toBe('none');
});

test('what was typed becomes a value of the kind, or none', () => {
  expect(readValue(policy('integer'), ' 12 ')).toBe(12);
  expect(readValue(policy('integer'), '1.5')).toBeNull();
  expect(readValue(policy('boolean'), 'false')).toBe(false);
  expect(readValue(policy('list'), 'a, b')).toEqual(['a', 'b']);
});

test('a number outside its bounds is refused before it is sent', () => {
  const bounded = policy('duration', { minimum: 60, maximum: 600 });
  expect(valueRefusal(bounded, '59')).toBe('At least 60.');
  expect(valueRefusal(bounded, '601')).toBe('At most 600.');
  expect(valueRefusal(bounded, '60')).toBeNull();
});
