import { policies as registry, type PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition } from '@gpuaas/contracts/policies';
import { isKeyOf, keysOf } from '@gpuaas/contracts/typed-keys';

/** For code that describes keys; code that needs a value uses the client. */
export const policyNames = keysOf(registry).toSorted();

export function isPolicyName(key: string): key is PolicyName {
  return isKeyOf(registry, key);
}

export function findDefinition(key: string): PolicyDefinition | null {
  return isKeyOf(registry, key) ? registry[key] : null;
}
