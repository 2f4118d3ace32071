import type { PolicyName, PolicyValues } from '@gpuaas/contracts/generated/policies.ts';
import type { Resolution } from './resolve.ts';

/** Scope of a value: the platform, a tenant, or one of its projects. */
export type PolicyScope =
  | { organizationId?: undefined; projectId?: undefined }
  | { organizationId: string; projectId?: string | undefined };

/** The only reader of business values. */
export interface Policies {
  /** The effective value at the scope now. Never waits, so read it when needed and do not store it. */
  get<K extends PolicyName>(key: K, scope?: PolicyScope): PolicyValues[K];
  /** The effective value with its source; as if `own` were set at the scope, if given. */
  explain(key: PolicyName, scope?: PolicyScope, own?: { value: unknown }): Resolution;
  /** Resolves when `get` sees everything committed before the call. */
  refresh(): Promise<void>;
}
