import type { Policies } from '../../../platform/policy/policies.ts';

/** The addresses that may be given out here: none unless somebody answers for them. */
export function offeredPool(
  policies: Policies,
  scope: { organizationId: string; projectId: string },
): readonly string[] {
  return policies.get('ingress.owner', scope) === '' ? [] : policies.get('ingress.pool', scope);
}
