import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { giveHostBack, keepProof } from './clean-host.ts';
import { endSettledRelease } from './end-release.ts';
import { isBaremetal, lockAllocation, type AllocationRow } from './move-allocation.ts';
import { findBlockedAllocation } from './retry-cleanup.ts';

export interface WitnessedCleanup {
  allocationId: string;
  method: string;
  evidence: string;
  witnessId: string;
}

/** A person vouches that nothing of the tenant is left on the host, for example because it was redeployed. */
export async function recordWitnessedCleanup(
  services: Services,
  tx: Tx,
  { allocationId, method, evidence, witnessId }: WitnessedCleanup,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const allocation = await findBlockedAllocation(tx, allocationId);
    if (!isBaremetal(allocation)) {
      throw new Problem('allocation_not_blocked', 'It holds slots, not a host; prove each slot by itself.');
    }
    const now = services.clock.now();
    await keepProof(tx, allocation, {
      source: { witnessId },
      method,
      verified: true,
      verification: evidence,
      startedAt: now,
      finishedAt: now,
    });
    await giveHostBack(services, tx, allocation);
    await endSettledRelease(services, tx, allocationId, 'Ended; an operator proved the host clean');
    return await lockAllocation(tx, allocationId);
  });
}
