import type { PolicyName, PolicyValues } from '@gpuaas/contracts/generated/policies.ts';
import type { Resolution } from './resolve.ts';

/** Where a value is asked for: everywhere, in a tenant, or in one of its projects. */
export type PolicyScope =
  | { organizationId?: undefined; projectId?: undefined }
  | { organizationId: string; projectId?: string | undefined };

/** The only reader of business values. */
export interface Policies {
  /** The value that holds at the scope now. Never waits, so ask when the value is needed and keep none. */
  get<K extends PolicyName>(key: K, scope?: PolicyScope): PolicyValues[K];
  /** The value with where it comes from; as if `own` were set at the scope itself, where it is given. */
  explain(key: PolicyName, scope?: PolicyScope, own?: { value: unknown }): Resolution;
  /** Resolves when everything committed before the call is seen by `get`. */
  refresh(): Promise<void>;
}
