import {
  policyMismatch,
  type PolicyDefinition,
  type PolicyScopeName,
  type PolicyValue,
} from '@gpuaas/contracts/policies';

/** What is set for a key at each scope on the way to the asked one; undefined where nothing is. */
export type SetValues = Partial<Record<PolicyScopeName, unknown>>;

export interface Resolution {
  value: PolicyValue;
  /** The scope whose value holds. */
  source: 'default' | PolicyScopeName;
  /** A value set further down was weaker than the guard-rail above it and does not hold as it is set. */
  clamped: boolean;
}

const SCOPES = ['global', 'tenant', 'project'] as const;

/**
 * The value that holds: that of the lowest scope that sets one, no weaker than what holds above it where the key is
 * a guard-rail. What the registry does not allow, or no longer allows, counts as not set.
 */
export function resolvePolicy(definition: PolicyDefinition, set: SetValues): Resolution {
  let current: Resolution = { value: definition.default, source: 'default', clamped: false };
  for (const scope of SCOPES) {
    const value = set[scope];
    if (value === undefined || !definition.set_by[scope] || policyMismatch(definition, value)) continue;
    // The platform sets the rail; the default is only where it starts.
    const upper = scope === 'global' ? undefined : current.value;
    current = step(definition, current, scope, value as PolicyValue, upper);
  }
  return current;
}

function step(
  definition: PolicyDefinition,
  current: Resolution,
  scope: PolicyScopeName,
  value: PolicyValue,
  upper: PolicyValue | undefined,
): Resolution {
  if (upper === undefined || !isWeaker(definition, value, upper)) {
    return { value, source: scope, clamped: false };
  }
  const tightest = tighten(definition, value, upper);
  // A list can be partly within the rail: what is left of it is still the lower scope's.
  if (isSame(tightest, upper)) return { ...current, clamped: true };
  return { value: tightest, source: scope, clamped: true };
}

/** Whether `value`, set below `upper`, would loosen the key's guard-rail. */
export function isWeaker(definition: PolicyDefinition, value: PolicyValue, upper: PolicyValue): boolean {
  if (!definition.guard_rail) return false;
  return !isSame(tighten(definition, value, upper), value);
}

function tighten(definition: PolicyDefinition, value: PolicyValue, upper: PolicyValue): PolicyValue {
  const atMost = definition.guard_rail === 'at_most';
  if (definition.type === 'list') {
    const [mine, above] = [value as readonly string[], upper as readonly string[]];
    return atMost
      ? mine.filter((item) => above.includes(item))
      : [...mine, ...above.filter((item) => !mine.includes(item))];
  }
  const isAbove = rank(definition, value) > rank(definition, upper);
  const isBelow = rank(definition, value) < rank(definition, upper);
  return (atMost ? isAbove : isBelow) ? upper : value;
}

function rank({ values }: PolicyDefinition, value: PolicyValue): number {
  return typeof value === 'string' ? values!.indexOf(value) : Number(value);
}

function isSame(a: PolicyValue, b: PolicyValue): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.length === b.length && a.every((item) => b.includes(item));
}
