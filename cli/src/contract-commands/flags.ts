import { InvalidArgumentError, type Command } from 'commander';
import type { OperationField } from '@gpuaas/sdk/operations';

/** Flags that every command understands; a field of one of these names is given its noun. */
const TAKEN = new Set(['url', 'json', 'api_key', 'body', 'all', 'fields', 'if_match', 'help', 'version']);

/** Found out when the caller has only one of them. */
const FOUND = new Map([
  ['project_id', 'project'],
  ['organization_id', 'organization'],
]);

export function isFound(field: OperationField): boolean {
  return FOUND.has(field.name);
}

/** `--max-duration-seconds`; `--webhook-url` where the name alone has another meaning. */
export function flagOf(field: OperationField, group: Command): string {
  const name = TAKEN.has(field.name)
    ? `${group.name().replace(/s$/, '')}_${field.name}`
    : (FOUND.get(field.name) ?? field.name);
  return `--${name.replaceAll('_', '-').toLowerCase()}`;
}

/** Where commander keeps the value of a flag. */
export function keyOf(field: OperationField, group: Command): string {
  return flagOf(field, group)
    .slice(2)
    .replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of a flag in the type that the contract declares. */
export function readFlag({ type }: OperationField, text: string): unknown {
  switch (type) {
    case 'integer':
      if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('give a whole number');
      return Number(text);
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text)))
        throw new InvalidArgumentError('give a number');
      return Number(text);
    case 'boolean':
      if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('give yes or no');
      return text === 'yes';
    case 'json':
      return readJson(text);
    case 'string':
    case 'strings':
      return text;
  }
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('this is not JSON');
  }
}
