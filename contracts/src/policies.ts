export const policyScopes = ['global', 'tenant', 'project'] as const;
export type PolicyScopeName = (typeof policyScopes)[number];

export type PolicyValue = number | boolean | string | readonly string[];

/** One key of `policies.yaml`. */
export interface PolicyDefinition {
  readonly type: 'integer' | 'boolean' | 'duration' | 'string' | 'list';
  readonly default: PolicyValue;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Allowed values of a string or list, weakest first where a guard-rail orders them. */
  readonly values?: readonly string[];
  /** Pattern of a string or of each word of a list, where values cannot be enumerated. */
  readonly pattern?: string;
  readonly unit?: string;
  readonly doc: string;
  readonly set_by: { readonly [S in PolicyScopeName]?: string };
  readonly guard_rail?: 'at_most' | 'at_least';
}

/** Why the value cannot be one of the key, or null when it can. */
export function policyValueError(definition: PolicyDefinition, value: unknown): string | null {
  switch (definition.type) {
    case 'integer':
    case 'duration':
      return numberMismatch(definition, value);
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'string':
      return isKnown(definition, value) ? null : `must be ${allowed(definition)}`;
    case 'list':
      return listMismatch(definition, value);
  }
}

function numberMismatch({ type, minimum, maximum }: PolicyDefinition, value: unknown): string | null {
  if (!Number.isSafeInteger(value)) {
    return type === 'duration' ? 'must be a whole number of seconds' : 'must be a whole number';
  }
  if (Number(value) < (minimum ?? -Infinity)) return `must be at least ${minimum}`;
  if (Number(value) > (maximum ?? Infinity)) return `must be at most ${maximum}`;
  return null;
}

function listMismatch(definition: PolicyDefinition, value: unknown): string | null {
  if (!Array.isArray(value)) return 'must be a list';
  if (new Set(value).size !== value.length) return 'must not name anything twice';
  return value.every((item) => isKnown(definition, item)) ? null : `each must be ${allowed(definition)}`;
}

function allowed({ values, pattern }: PolicyDefinition): string {
  return values ? `one of ${values.join(', ')}` : `of the form ${pattern}`;
}

function isKnown({ values, pattern }: PolicyDefinition, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return values ? values.includes(value) : new RegExp(pattern!).test(value);
}
