import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';

/** A domain that uses allocations and must let go of one that is released. Roles register them; both may run twice. */
export interface ReleaseHook {
  /** In the transaction that records a tenant's wish, under the tenant's role: nothing new may begin. */
  requested(tx: Tx, allocationId: string): Promise<void>;
  /** In the transaction that begins the release, before the host is asked: what runs on the machine lets go of it. */
  releasing(tx: Tx, allocationId: string): Promise<void>;
}

export interface ReleaseServices extends Services {
  releaseHooks: readonly ReleaseHook[];
}
