import type { AppParameter, AppParameterValue } from '../../api/types.ts';

/** Typed values by the names of the parameters. */
export type Typed = Readonly<Record<string, string>>;

/** What the form begins with: the values of a former attempt, else the defaults. */
export function firstValues(declared: readonly AppParameter[], former: readonly AppParameterValue[]): Typed {
  const given = new Map(former.map(({ name, value }) => [name, value]));
  return Object.fromEntries(
    declared.map(({ name, default: fallback }) => [name, given.get(name) ?? fallback ?? '']),
  );
}

/** What is sent. An empty field is left out, unless it clears a text that has a default. */
export function sentValues(declared: readonly AppParameter[], typed: Typed): AppParameterValue[] {
  return declared.flatMap((parameter) => {
    const { name, type, choices, default: fallback = '' } = parameter;
    const value = typed[name] ?? '';
    const clears = type === 'string' && !choices && fallback !== '';
    return value === '' && !clears ? [] : [{ name, value }];
  });
}

/** Why a typed value cannot be used; null when it can. The server has the last word. */
export function parameterError(parameter: AppParameter, value: string): string | null {
  const { type, required, default: fallback, minimum, maximum, max_length: longest } = parameter;
  if (value === '') return required && fallback === undefined ? 'A value is required.' : null;
  if (longest !== undefined && value.length > longest) return `Use at most ${longest} characters.`;
  if (type !== 'integer' && type !== 'number') return null;
  if (!NUMBER.test(value)) return type === 'integer' ? 'Use a whole number.' : 'Use a number.';
  const number = Number(value);
  if (type === 'integer' && !Number.isSafeInteger(number)) return 'Use a whole number.';
  if (minimum !== undefined && number < minimum) return `Use at least ${minimum}.`;
  if (maximum !== undefined && number > maximum) return `Use at most ${maximum}.`;
  return null;
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?(e-?\d{1,2})?$/i;
