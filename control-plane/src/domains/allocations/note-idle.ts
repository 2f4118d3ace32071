import type { Services } from '../../platform/services.ts';

/** No workflow works on the allocation any more. */
export async function noteIdle(services: Services, allocationId: string): Promise<void> {
  await services.db
    .updateTable('allocations')
    .set({ execution_state: 'idle' })
    .where('id', '=', allocationId)
    .execute();
}
