import type { TargetRules } from '../../platform/outbound/target.ts';
import type { Policies } from '../../platform/policy/policies.ts';

/** Current limits on targets of the tenant's webhooks. */
export function targetRules(policies: Policies, organizationId: string): TargetRules {
  return { allowPrivateTargets: policies.get('webhooks.allow_private_targets', { organizationId }) };
}
