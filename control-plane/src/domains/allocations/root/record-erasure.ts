import type { Services } from '../../../platform/services.ts';
import { lastOnboarding, redeployMachine } from '../../fleet/onboarding/redeploy-machine.ts';
import { liveClaims } from '../claims.ts';
import { giveHostBack, keepProof } from '../clean-host.ts';
import { lockAllocation } from '../move-allocation.ts';

export interface Erasure {
  systemId: string;
  startedAt: string;
  finishedAt: string;
}

/** MAAS has erased the host: the lease ends with that proof, and the host comes back by an installation of its own. */
export async function recordErasure(
  services: Services,
  allocationId: string,
  { systemId, startedAt, finishedAt }: Erasure,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const allocation = await lockAllocation(tx, allocationId);
    if ((await liveClaims(tx, allocationId)) === 0) return;
    await keepProof(tx, allocation, {
      source: { maasSystemId: systemId },
      method: 'maas_erase',
      verified: true,
      verification: 'MAAS erased every disk of the machine and found it ready',
      startedAt,
      finishedAt,
    });
    await giveHostBack(services, tx, allocation);
    const last = await lastOnboarding(tx, allocation.node_id!);
    if (!last) throw new Error(`node ${allocation.node_id} was not installed by MAAS`);
    await redeployMachine(services, tx, last, allocation.correlation_id);
  });
}
