import { policies, type PolicyName } from '@gpuaas/contracts/generated/policies.ts';

/** The value of a policy key that holds everywhere: today its declared default. The only reader of business values. */
export function policy(name: PolicyName): number {
  return policies[name].default;
}
