import type { TargetRules } from '../../platform/outbound/target.ts';
import type { Policies } from '../../platform/policy/policies.ts';

/** What the platform allows the tenant's webhooks now. */
export function targetRules(policies: Policies, organizationId: string): TargetRules {
  return { allowPrivateTargets: policies.get('webhooks.allow_private_targets', { organizationId }) };
}
