import { first } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { enterQueue } from '../queue/enter-queue.ts';
import { storeUserData } from '../user-data/store-user-data.ts';
import { newOrder, type LaunchRequest, type LaunchServices } from './launch.ts';
import { lockLaunchFacts, prepareLaunch } from './prepare-launch.ts';
import { reserveAll } from './reserve-batch.ts';

/** Decides one launch in the caller's transaction: it is reserved, queued or refused. */
export async function createAllocation(
  services: LaunchServices,
  tx: Tx,
  launch: LaunchRequest,
): Promise<AllocationRow> {
  const facts = first(await lockLaunchFacts(services, tx, [launch]), 'facts of the launch');
  const prepared = prepareLaunch(services, launch, facts);
  return await withRole(tx, 'gpuaas_placement', async () => {
    const result = await reserveAll(services, tx, [newOrder(prepared)]);
    if (result.kind === 'reserved') return first(result.allocations, 'allocation');
    const { problem } = result;
    if (problem.code !== 'sku_unavailable' || prepared.whenUnavailable === 'fail') throw problem;
    const queued = await enterQueue(services, tx, prepared.allocation, launch.request.max_duration_seconds);
    await storeUserData(tx, [prepared]);
    return queued;
  });
}
