import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { cleanupWorkflow, cleanupWorkflowId } from './cleanup.workflow.ts';
import { findBlockedSlot } from './find-blocked-slot.ts';
import { releaseWorkflow, releaseWorkflowId } from './release.workflow.ts';

/** Starts another round of wipes for everything the allocation still holds. */
export async function retryCleanup(
  services: Services,
  tx: Tx,
  slotId: string,
  correlationId: string,
): Promise<void> {
  // What an allocation does is written by workers alone; the operator only has it begin again.
  const { allocation } = await withRole(tx, 'gpuaas_worker', () => findBlockedSlot(tx, slotId));
  const allocationId = allocation.id;
  if (allocation.state === 'release_failed') {
    const attempt = allocation.release_attempts + 1;
    await withRole(tx, 'gpuaas_worker', () =>
      tx
        .updateTable('allocations')
        .set({ release_attempts: attempt })
        .where('id', '=', allocationId)
        .execute(),
    );
    const input = { allocationId, attempt, correlationId };
    await services.workflows.start(tx, releaseWorkflow.name, releaseWorkflowId(allocationId, attempt), input);
    return;
  }
  await withRole(tx, 'gpuaas_worker', () =>
    tx
      .updateTable('allocations')
      .set({ execution_state: 'cleaning up' })
      .where('id', '=', allocationId)
      .execute(),
  );
  const retryId = newId();
  const input = { allocationId, retryId, correlationId };
  await services.workflows.start(tx, cleanupWorkflow.name, cleanupWorkflowId(allocationId, retryId), input);
}
