import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { returnHostToPool, storeCleanupProof } from './host-cleanup.ts';
import { completeAttestedRelease } from '../release/complete-release.ts';
import { lockAllocation, type AllocationRow } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { findBlockedAllocation } from './retry-cleanup.ts';

export interface AttestedCleanup {
  allocationId: string;
  method: string;
  evidence: string;
  witnessId: string;
}

/** A person attests that nothing of the tenant is left on the host, for example because it was redeployed. */
export async function recordAttestedCleanup(
  services: Services,
  tx: Tx,
  { allocationId, method, evidence, witnessId }: AttestedCleanup,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const allocation = await findBlockedAllocation(tx, allocationId);
    if (shapeOf(allocation).attestedBy !== 'host') {
      throw new Problem('allocation_not_blocked', 'It holds slots, not a host; attest each slot separately.');
    }
    const now = services.clock.now();
    await storeCleanupProof(tx, allocation, {
      source: { kind: 'witness', witnessId },
      method,
      verified: true,
      verification: evidence,
      startedAt: now,
      finishedAt: now,
    });
    await returnHostToPool(services, tx, allocation);
    await completeAttestedRelease(services, tx, allocationId, 'Ended; an operator proved the host clean');
    return await lockAllocation(tx, allocationId);
  });
}
