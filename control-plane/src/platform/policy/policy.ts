import { policies, type PolicyName } from '@gpuaas/contracts/generated/policies.ts';

/** The declared default of a number. Only for what has no client at hand yet; use `services.policies.get`. */
export function policy(name: PolicyName): number {
  return Number(policies[name].default);
}
