import { describe, expect, it } from 'vitest';
import { faultsOfDeclaration, parameterVariable, resolveParameters } from './parameters.ts';

const steps = { name: 'steps', type: 'integer', minimum: 1, maximum: 10, default: '3' } as const;
const mode = { name: 'mode', type: 'string', choices: ['a', 'b'], required: true } as const;

describe('parameters of an app', () => {
  it('take what is given, and defaults for the rest', () => {
    const { values, faults } = resolveParameters(
      [steps, { ...mode, choices: ['a', 'b'] }],
      [{ name: 'mode', value: 'b' }],
    );
    expect(faults).toEqual([]);
    expect(values).toEqual([
      { name: 'mode', value: 'b' },
      { name: 'steps', value: '3' },
    ]);
  });

  it.each([
    ['steps', '0', 'must be at least 1'],
    ['steps', '11', 'must be at most 10'],
    ['steps', '2.5', 'must be a whole number'],
    ['steps', 'many', 'must be a whole number'],
    ['mode', 'c', 'must be one of a, b'],
    ['other', '1', 'is no parameter of the app'],
  ])('refuse %s = %s', (name, value, detail) => {
    const declared = [steps, { ...mode, choices: ['a', 'b'], default: 'a' }];
    expect(resolveParameters(declared, [{ name, value }]).faults).toEqual([{ name, detail }]);
  });

  it('refuse a missing and a repeated one', () => {
    const declared = [{ ...mode, choices: ['a', 'b'] }];
    expect(resolveParameters(declared, []).faults).toEqual([{ name: 'mode', detail: 'is required' }]);
    const twice = [
      { name: 'mode', value: 'a' },
      { name: 'mode', value: 'b' },
    ];
    expect(resolveParameters(declared, twice).faults).toEqual([{ name: 'mode', detail: 'is given twice' }]);
  });

  it('are declared once, with a default that they would take', () => {
    expect(faultsOfDeclaration([steps, { ...steps, default: '99' }])).toEqual([
      { name: 'steps', detail: 'is declared twice' },
      { name: 'steps', detail: 'its default must be at most 10' },
    ]);
    expect(parameterVariable('learning_rate')).toBe('PARAM_LEARNING_RATE');
  });
});
