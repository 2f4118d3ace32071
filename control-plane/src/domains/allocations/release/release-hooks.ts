import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { AllocationRow } from '../transition-allocation.ts';

/** Work that must end before the machine goes, and how long the release waits for it. */
export interface LettingGo {
  workflowIds: readonly string[];
  seconds: number;
}

/** A domain that uses allocations and must let go of one that is released. Roles register them; all may run twice. */
export interface ReleaseHook {
  /** In the transaction that records a tenant's wish, under the tenant's role: nothing new may begin. */
  requested(tx: Tx, allocationId: string): Promise<void>;
  /** Before anything is taken away: ends what runs on the machine while there is a way into it. */
  letGo?(services: Services, tx: Tx, allocation: AllocationRow): Promise<LettingGo>;
  /** In the transaction that begins the release, before the host is asked: what runs on the machine lets go of it. */
  releasing(tx: Tx, allocationId: string): Promise<void>;
}

export interface ReleaseServices extends Services {
  releaseHooks: readonly ReleaseHook[];
}
