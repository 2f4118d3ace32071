import {
  policyValueError,
  type PolicyDefinition,
  type PolicyScopeName,
  type PolicyValue,
} from '@gpuaas/contracts/policies';
import { present } from '../present.ts';

/** Values of a key at each scope above and at the requested one; undefined where none is set. */
export type ScopedValues = Partial<Record<PolicyScopeName, unknown>>;

export interface Resolution {
  value: PolicyValue;
  /** The scope of the effective value. */
  source: 'default' | PolicyScopeName;
  /** A value set further down was weaker than the guard-rail above it and does not hold as it is set. */
  clamped: boolean;
}

const SCOPES = ['global', 'tenant', 'project'] as const;

/**
 * The effective value: that of the lowest scope that sets one, no weaker than the value above it if the key
 * is a guard-rail. Values that the registry does not allow count as not set.
 */
export function resolvePolicy(definition: PolicyDefinition, set: ScopedValues): Resolution {
  let current: Resolution = { value: definition.default, source: 'default', clamped: false };
  for (const scope of SCOPES) {
    const value = set[scope];
    if (value === undefined || !definition.set_by[scope] || policyValueError(definition, value)) continue;
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
  if (upper === undefined || !isLooser(definition, value, upper)) {
    return { value, source: scope, clamped: false };
  }
  const tightest = tighten(definition, value, upper);
  // A list can be partly within the rail: the remaining part is still the lower scope's.
  if (isSame(tightest, upper)) return { ...current, clamped: true };
  return { value: tightest, source: scope, clamped: true };
}

/** Whether `value`, set below `upper`, would loosen the key's guard-rail. */
export function isLooser(definition: PolicyDefinition, value: PolicyValue, upper: PolicyValue): boolean {
  if (!definition.guard_rail) return false;
  return !isSame(tighten(definition, value, upper), value);
}

function tighten(definition: PolicyDefinition, value: PolicyValue, upper: PolicyValue): PolicyValue {
  const atMost = definition.guard_rail === 'at_most';
  if (typeof value === 'object' && typeof upper === 'object') {
    return atMost
      ? value.filter((item) => upper.includes(item))
      : [...value, ...upper.filter((item) => !value.includes(item))];
  }
  const isAbove = rank(definition, value) > rank(definition, upper);
  const isBelow = rank(definition, value) < rank(definition, upper);
  return (atMost ? isAbove : isBelow) ? upper : value;
}

function rank({ values }: PolicyDefinition, value: PolicyValue): number {
  return typeof value === 'string' ? present(values, 'values of the policy').indexOf(value) : Number(value);
}

function isSame(a: PolicyValue, b: PolicyValue): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.length === b.length && a.every((item) => b.includes(item));
}
