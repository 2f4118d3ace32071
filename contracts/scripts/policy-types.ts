import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { policyValueError, policyScopes, type PolicyDefinition } from '../src/policies.ts';

const FIELDS = new Set([
  'type',
  'default',
  'minimum',
  'maximum',
  'values',
  'pattern',
  'unit',
  'doc',
  'set_by',
  'guard_rail',
]);

/** The registry of policy keys with the type of each key's value. */
export function policyTypes(file: string, header: string, permissions: Record<string, string>): string {
  const registry: Record<string, PolicyDefinition> = parseYaml(readFileSync(file, 'utf8'));
  for (const [key, definition] of Object.entries(registry)) {
    const fault = faultOf(key, definition, permissions);
    if (fault) throw new Error(`policy ${key}: ${fault}`);
  }
  const values = Object.entries(registry).map(
    ([key, definition]) => `  '${key}': ${valueType(definition)};\n`,
  );
  return [
    header,
    `export const policies = ${JSON.stringify(registry, null, 2)} as const;\n\n`,
    'export type PolicyName = keyof typeof policies;\n\n',
    `export interface PolicyValues {\n${values.join('')}}\n`,
  ].join('');
}

function faultOf(
  key: string,
  definition: PolicyDefinition,
  permissions: Record<string, string>,
): string | null {
  const unknown = Object.keys(definition).filter((field) => !FIELDS.has(field));
  if (unknown.length > 0) return `has no field ${unknown.join(', ')}`;
  const { type, minimum, maximum, values, pattern, set_by } = definition;
  const isNumber = type === 'integer' || type === 'duration';
  if (isNumber !== (minimum !== undefined && maximum !== undefined)) {
    return 'numbers, and only they, have a minimum and a maximum';
  }
  if ((type === 'string' || type === 'list') !== ((values ?? pattern) !== undefined)) {
    return 'strings and lists, and only they, name their values or say their form';
  }
  if (values && pattern) return 'it names its values or says their form, not both';
  if (type === 'string' && pattern && definition.guard_rail) return 'free words have no order';
  if ((type === 'duration') !== key.endsWith('_seconds')) return 'durations, and only they, end in _seconds';
  for (const [scope, permission] of Object.entries(set_by)) {
    if (!policyScopes.some((known) => known === scope)) return `there is no scope ${scope}`;
    if (!permission || !(permission in permissions)) return `there is no permission ${permission}`;
  }
  if (!set_by.global) return 'every key can be set globally';
  const mismatch = policyValueError(definition, definition.default);
  return mismatch && `its default ${mismatch}`;
}

function valueType({ type, values }: PolicyDefinition): string {
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' || type === 'duration') return 'number';
  const union = values ? values.map((value) => JSON.stringify(value)).join(' | ') : 'string';
  return type === 'list' ? `readonly (${union})[]` : union;
}
