import {
  policies as registry,
  type PolicyName,
  type PolicyValues,
} from '@gpuaas/contracts/generated/policies.ts';
import type { Policies } from './policies.ts';
import { resolvePolicy } from './resolve.ts';

/** The defaults, with some values set for the whole platform; for tests without a database. */
export function fixedPolicies(set: Partial<PolicyValues> = {}): Policies {
  const explain = (key: PolicyName) => resolvePolicy(registry[key], { global: set[key] });
  return {
    get: <K extends PolicyName>(key: K) => explain(key).value as PolicyValues[K],
    explain,
    refresh: async () => undefined,
  };
}
