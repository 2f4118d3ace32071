import { expect, test } from 'vitest';
import { firstValues, parameterError, sentValues } from './parameter-values.ts';

const steps = { name: 'steps', type: 'integer', default: '3', minimum: 1, maximum: 10 } as const;
const folder = { name: 'folder', type: 'string', default: 'notebooks', max_length: 12 } as const;
const token = { name: 'token', type: 'string', required: true } as const;
const declared = [steps, folder, token];

test('a form begins with the values of the former attempt, and with defaults', () => {
  expect(firstValues(declared, [])).toEqual({ steps: '3', folder: 'notebooks', token: '' });
  expect(firstValues(declared, [{ name: 'steps', value: '7' }])).toMatchObject({ steps: '7' });
});

test('an empty field is left out, unless it clears a text that has a default', () => {
  expect(sentValues(declared, { steps: '', folder: '', token: '' })).toEqual([{ name: 'folder', value: '' }]);
  expect(sentValues(declared, { steps: '4', folder: 'a', token: 'b' })).toHaveLength(3);
});

test.each([
  [steps, '', null],
  [steps, '10', null],
  [steps, '11', 'Use at most 10.'],
  [steps, '0', 'Use at least 1.'],
  [steps, '1.5', 'Use a whole number.'],
  [steps, 'many', 'Use a whole number.'],
  [folder, 'a-much-longer-name', 'Use at most 12 characters.'],
  [token, '', 'A value is required.'],
  [token, 'x', null],
])('of $name, "%s": %s', (parameter, value, error) => {
  expect(parameterError(parameter, value)).toBe(error);
});
