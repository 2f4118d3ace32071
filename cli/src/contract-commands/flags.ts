import { InvalidArgumentError, type Command } from 'commander';
import type { OperationField } from '@gpuaas/sdk/operations';

/** Flags that every command understands; a field of one of these names is given its noun. */
const TAKEN = new Set([
  'url',
  'json',
  'api_key',
  'body',
  'all',
  'fields',
  'if_match',
  'help',
  'version',
  'context',
  'wait',
]);

/** Filled in when the caller has only one of them. */
const FOUND = new Map([
  ['project_id', 'project'],
  ['organization_id', 'organization'],
]);

export function isInferred(field: OperationField): boolean {
  return FOUND.has(field.name);
}

/** `--max-duration-seconds`; `--webhook-url` where the name alone has another meaning. */
export function flagName(field: OperationField, group: Command): string {
  const name = TAKEN.has(field.name)
    ? `${group.name().replace(/s$/, '')}_${field.name}`
    : (FOUND.get(field.name) ?? field.name);
  return `--${name.replaceAll('_', '-').toLowerCase()}`;
}

/** Commander's key for the value of a flag. */
export function optionKey(field: OperationField, group: Command): string {
  return flagName(field, group)
    .slice(2)
    .replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of a flag in the type that the contract declares. */
export function readFlag({ type }: OperationField, text: string): unknown {
  switch (type) {
    case 'integer':
      if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number');
      return Number(text);
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text)))
        throw new InvalidArgumentError('must be a number');
      return Number(text);
    case 'boolean':
      if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('must be yes or no');
      return text === 'yes';
    case 'money':
      return readMoney(text);
    case 'json':
      return readJson(text);
    case 'value':
      return readValue(text);
    case 'string':
    case 'strings':
    case 'integers':
      return text;
  }
}

/** `2.99 USD`: people do not count in millionths. */
export function readMoney(text: string): { currency: string; micros: number } {
  const [, sign, whole, fraction = '', currency] =
    /^\s*(-?)(\d{1,9})(?:\.(\d{1,6}))?\s+([A-Za-z]{3})\s*$/.exec(text) ?? [];
  if (whole === undefined || currency === undefined)
    throw new InvalidArgumentError('must be an amount and a currency, for example "2.99 USD"');
  const micros = Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
  return { currency: currency.toUpperCase(), micros: sign === '-' ? -micros : micros };
}

/** JSON where it is some, else the text itself. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('invalid JSON');
  }
}
