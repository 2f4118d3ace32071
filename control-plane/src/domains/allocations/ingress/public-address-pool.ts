import type { Policies } from '../../../platform/policy/policies.ts';

/** Public addresses available here: none unless an owner is set. */
export function publicAddressPool(
  policies: Policies,
  scope: { organizationId: string; projectId: string },
): readonly string[] {
  return policies.get('ingress.owner', scope) === '' ? [] : policies.get('ingress.pool', scope);
}
