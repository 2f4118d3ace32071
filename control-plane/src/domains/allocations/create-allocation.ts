import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { requireQuota } from '../quotas/require-quota.ts';
import type { AllocationRow } from './move-allocation.ts';
import { enterQueue } from './queue/enter-queue.ts';
import { recordSales } from './record-sales.ts';
import { reserveSlots } from './reserve-slots.ts';
import { leaseEnd } from './launch-request.ts';
import { prepareLaunch } from './prepare-launch.ts';
import { keepUserData } from './user-data/keep-user-data.ts';

type CreateAllocation = components['schemas']['CreateAllocation'];

/** The launch decision: price, quota, placement, claims, event and workflow commit together or not at all. */
export async function createAllocation(
  services: Services,
  tx: Tx,
  caller: Caller,
  request: CreateAllocation,
  correlationId: string,
): Promise<AllocationRow> {
  const launch = await prepareLaunch(services, tx, caller, request, correlationId);
  const { offer, request: wanted } = launch;
  return await withRole(tx, 'gpuaas_placement', async () => {
    await requireQuota(services.policies, tx, launch.charge);
    const reservation = await reserveSlots(services, tx, wanted, offer).catch((error: unknown) => {
      if (request.when_unavailable === 'queue' && isCapacityRefusal(error)) return null;
      throw error;
    });
    if (!reservation) {
      const queued = await enterQueue(services, tx, launch.allocation, request.max_duration_seconds);
      await keepUserData(tx, [launch]);
      return queued;
    }
    const { nodeId, slotIds } = reservation;
    const sold = { ...launch.allocation, node_id: nodeId, ends_at: leaseEnd(wanted) };
    const sale = { allocation: sold, slotIds, gpuModel: offer.gpuModel };
    const { allocations } = await recordSales(services, tx, [sale]);
    await keepUserData(tx, [launch]);
    return allocations[0]!;
  });
}

function isCapacityRefusal(error: unknown): boolean {
  return error instanceof Problem && error.code === 'sku_unavailable';
}
