import type { Services } from '../../platform/services.ts';

/**
 * No workflow works on the allocation any more. Said by a workflow that was resumed, it may come when another one has
 * begun, which it must not end.
 */
export async function noteIdle(services: Services, allocationId: string, workflowId: string): Promise<void> {
  await services.db
    .updateTable('allocations')
    .set({ execution_state: 'idle', cleanup_workflow_id: null })
    .where('id', '=', allocationId)
    .where((e) => e.or([e('cleanup_workflow_id', 'is', null), e('cleanup_workflow_id', '=', workflowId)]))
    .execute();
}
