import type { Services } from '../../../platform/services.ts';
import { latestOnboarding, redeployMachine } from '../../fleet/onboarding/redeploy-machine.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { liveClaims } from '../claims.ts';
import { returnHostToPool, storeCleanupProof } from '../cleanup/host-cleanup.ts';
import { hostOf, lockAllocation } from '../transition-allocation.ts';

export interface Erasure {
  systemId: string;
  startedAt: string;
  finishedAt: string;
}

/**
 * MAAS has erased the host: the lease ends with that proof, and a separate installation brings the host back.
 */
export async function recordErasure(
  services: Services,
  allocationId: string,
  { systemId, startedAt, finishedAt }: Erasure,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const allocation = await lockAllocation(tx, allocationId);
    if ((await liveClaims(tx, allocationId)) === 0) return;
    await storeCleanupProof(tx, allocation, {
      source: { kind: 'maas', systemId },
      method: 'maas_erase',
      verified: true,
      verification: 'MAAS erased every disk of the machine and found it ready',
      startedAt,
      finishedAt,
    });
    await emitAllocation(tx, 'allocation.progress', allocation, {
      stage: 'erase',
      status: 'done',
      message: 'Every disk of the host is erased',
      percent: 100,
    });
    await returnHostToPool(services, tx, allocation);
    const last = await latestOnboarding(tx, hostOf(allocation));
    if (!last) throw new Error(`node ${allocation.node_id} was not installed by MAAS`);
    await redeployMachine(services, tx, last, allocation.correlation_id);
  });
}
