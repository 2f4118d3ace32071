import type { Services } from '../../../platform/services.ts';
import { atRest } from '../execution.ts';
import { liveClaims } from '../claims.ts';
import { emitCleanedUp } from '../release/complete-release.ts';

/**
 * Marks that no workflow works on the allocation. A resumed workflow may call this after a newer one started;
 * it must not clear that one's state.
 */
export async function markExecutionIdle(
  services: Services,
  allocationId: string,
  workflowId: string,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('allocations')
      .set({ ...atRest(), cleanup_workflow_id: null })
      .where('id', '=', allocationId)
      .where('execution_workflow_id', '=', workflowId)
      .returningAll()
      .executeTakeFirst();
    if (row?.state === 'failed' && (await liveClaims(tx, allocationId)) === 0) await emitCleanedUp(tx, row);
  });
}
