import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { executedBy } from '../execution.ts';
import { liveClaims } from '../claims.ts';
import { cleanupWorkflow, cleanupWorkflowId } from './cleanup.workflow.ts';
import type { CleanupCause } from './decide-cleanup.ts';
import { findBlockedSlot, isCleaning, type BlockedClaim } from './find-blocked-slot.ts';
import { lockAllocation, type AllocationRow } from '../transition-allocation.ts';
import { releaseWorkflow, releaseWorkflowId } from '../release/release.workflow.ts';

/** Starts another round of wipes for everything that the allocations of quarantined slots still hold. */
export async function retryCleanups(
  services: Services,
  tx: Tx,
  slotIds: readonly string[],
  cause: OperatorsCause,
  correlationId: string,
): Promise<BlockedClaim[]> {
  // Only workers write the execution state; the operator's request just starts the workflow.
  return await withRole(tx, 'gpuaas_worker', async () => {
    const blocked: BlockedClaim[] = [];
    for (const slotId of [...new Set(slotIds)].toSorted()) blocked.push(await findBlockedSlot(tx, slotId));
    const held = new Map(blocked.map(({ allocation }) => [allocation.id, allocation]));
    for (const allocation of held.values())
      await restartCleanup(services, tx, allocation, correlationId, cause);
    return blocked;
  });
}

export type OperatorsCause = Extract<CleanupCause, 'operator' | 'operator_all_data'>;

/** Retries the cleanup of an allocation; also for one that holds a whole host. */
export async function retryRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  correlationId: string,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const allocation = await findBlockedAllocation(tx, allocationId);
    await restartCleanup(services, tx, allocation, correlationId, 'operator');
    return await lockAllocation(tx, allocationId);
  });
}

/** An ended or release_failed allocation that still holds slots, without a running workflow, locked. */
export async function findBlockedAllocation(tx: Tx, allocationId: string): Promise<AllocationRow> {
  const allocation = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .forUpdate()
    .executeTakeFirst();
  if (!allocation) throw notFound();
  const ended = ['released', 'failed', 'release_failed'].includes(allocation.state);
  if (!ended || (await liveClaims(tx, allocationId)) === 0) {
    throw new Problem(
      'allocation_not_blocked',
      `The allocation is ${allocation.state}; there is nothing to clean.`,
    );
  }
  if (isCleaning(allocation)) {
    throw new Problem('cleanup_running', 'Wait for the workflow that is cleaning it.');
  }
  return allocation;
}

/** Under the role of a worker, with the allocation locked and at rest. */
export async function restartCleanup(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  correlationId: string,
  cause: CleanupCause,
): Promise<void> {
  const allocationId = allocation.id;
  if (allocation.state === 'release_failed') {
    const attempt = allocation.release_attempts + 1;
    await tx
      .updateTable('allocations')
      .set({ release_attempts: attempt })
      .where('id', '=', allocationId)
      .execute();
    const input = { allocationId, attempt, correlationId, cause };
    await services.workflows.start(tx, releaseWorkflow, releaseWorkflowId(allocationId, attempt), input);
    return;
  }
  const retryId = newId();
  const workflowId = cleanupWorkflowId(allocationId, retryId);
  await tx
    .updateTable('allocations')
    .set({ ...executedBy(workflowId, 'cleaning_up'), cleanup_workflow_id: workflowId })
    .where('id', '=', allocationId)
    .execute();
  const input = { allocationId, retryId, correlationId, cause };
  await services.workflows.start(tx, cleanupWorkflow, workflowId, input);
}
