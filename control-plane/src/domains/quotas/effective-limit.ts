import type { Policies, PolicyScope } from '../../platform/policy/policies.ts';
import type { Counter, HolderType, Measure } from './counter.ts';

export interface ConfiguredLimits {
  platformLimit: bigint | null;
  tenantLimit: bigint | null;
}

export interface EffectiveLimit {
  limit: bigint;
  /** Who set the effective limit; the policy if no quota is set. */
  setBy: 'policy' | 'platform' | 'tenant';
}

const MICROS_PER_UNIT = 1_000_000n;

/** The platform's quota, or the policy's if there is none; the tenant's quota if it is smaller. */
export function effectiveLimit(
  policies: Pick<Policies, 'get'>,
  counter: Counter,
  { platformLimit, tenantLimit }: ConfiguredLimits,
): EffectiveLimit {
  const above: EffectiveLimit =
    platformLimit === null
      ? { limit: policyLimit(policies, counter), setBy: 'policy' }
      : { limit: platformLimit, setBy: 'platform' };
  return tenantLimit !== null && tenantLimit < above.limit ? { limit: tenantLimit, setBy: 'tenant' } : above;
}

type Defaults = Record<Measure, (policies: Pick<Policies, 'get'>, at: PolicyScope) => number>;

const defaults: Record<HolderType, Defaults> = {
  project: {
    allocations: (policies, at) => policies.get('quotas.project_allocations', at),
    gpus: (policies, at) => policies.get('quotas.project_gpus', at),
    spend_per_hour: (policies, at) => policies.get('quotas.project_spend_per_hour', at),
    app_instances: (policies, at) => policies.get('quotas.project_app_instances', at),
  },
  user: {
    allocations: (policies, at) => policies.get('quotas.user_allocations', at),
    gpus: (policies, at) => policies.get('quotas.user_gpus', at),
    spend_per_hour: (policies, at) => policies.get('quotas.user_spend_per_hour', at),
    app_instances: (policies, at) => policies.get('quotas.user_app_instances', at),
  },
};

/** Limits that apply without a quota. */
export function policyLimit(
  policies: Pick<Policies, 'get'>,
  { organizationId, holderType, measure }: Counter,
): bigint {
  const value = BigInt(defaults[holderType][measure](policies, { organizationId }));
  return measure === 'spend_per_hour' ? value * MICROS_PER_UNIT : value;
}
