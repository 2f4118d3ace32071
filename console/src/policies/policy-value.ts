import type { Policy, PolicyValue } from '../api/types.ts';
import { formatDuration } from '../format/format-time.ts';

const SECOND_MS = 1_000;

/** A value as people read it: durations in their two largest units, beside the number that is set. */
export function formatPolicyValue(policy: Pick<Policy, 'type' | 'unit'>, value: PolicyValue): string {
  if (Array.isArray(value)) return value.join(', ') || 'none';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'string') return value || 'nothing';
  const number = value.toLocaleString('en-US');
  if (policy.type === 'duration') return `${formatDuration(value * SECOND_MS)} (${number} s)`;
  return policy.unit ? `${number} ${policy.unit}` : number;
}

/** The typed text as a policy value; null when invalid. */
export function parsePolicyValue(policy: Policy, typed: string): PolicyValue | null {
  switch (policy.type) {
    case 'integer':
    case 'duration':
      return /^-?\d+$/.test(typed.trim()) ? Number(typed) : null;
    case 'boolean':
      return typed === 'true' ? true : typed === 'false' ? false : null;
    case 'list':
      return typed.split(/[\s,]+/).filter(Boolean);
    case 'string':
      // Free text may be empty.
      return typed === '' && policy.values ? null : typed;
  }
}

/** Error of a value; the API has the last word. */
export function policyValueError(policy: Policy, typed: string): string | null {
  const value = parsePolicyValue(policy, typed);
  if (value === null) return 'Enter a value.';
  if (typeof value !== 'number') return null;
  if (policy.minimum !== null && value < policy.minimum) return `At least ${policy.minimum}.`;
  if (policy.maximum !== null && value > policy.maximum) return `At most ${policy.maximum}.`;
  return null;
}
