import type { Services } from '../../platform/services.ts';
import { liveClaims } from './claims.ts';
import { tellCleaned } from './end-release.ts';

/**
 * No workflow works on the allocation any more. Said by a workflow that was resumed, it may come when another one has
 * begun, which it must not end.
 */
export async function noteIdle(services: Services, allocationId: string, workflowId: string): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('allocations')
      .set({ execution_state: 'idle', cleanup_workflow_id: null })
      .where('id', '=', allocationId)
      .where('execution_state', '<>', 'idle')
      .where((e) => e.or([e('cleanup_workflow_id', 'is', null), e('cleanup_workflow_id', '=', workflowId)]))
      .returningAll()
      .executeTakeFirst();
    if (row?.state === 'failed' && (await liveClaims(tx, allocationId)) === 0) await tellCleaned(tx, row);
  });
}
