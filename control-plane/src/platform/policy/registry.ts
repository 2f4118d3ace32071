import { policies as registry, type PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition } from '@gpuaas/contracts/policies';

/** For those who describe keys, not for those who need a value: that is the client's. */
export const policyNames = Object.keys(registry).toSorted() as PolicyName[];

export function findDefinition(key: string): PolicyDefinition | null {
  return Object.hasOwn(registry, key) ? registry[key as PolicyName] : null;
}
