import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { claimedSlots } from './claims.ts';
import { wipeDeadline, wipeSlots } from './wipe-slots.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Names this retry; each is a workflow of its own. */
  retryId: string;
}

/** What an operator starts for the slots of a failed provisioning that could not be proven clean. */
export const cleanupWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'allocation.cleanup',
  deadlineSeconds: ({ policies }) => 1.25 * wipeDeadline(policies),
  async run(services, { allocationId, retryId }) {
    const held = await step(
      'cleanup.begin',
      async () => (await claimedSlots(services.db, allocationId)).length,
    );
    if (held > 0) await wipeSlots(services, allocationId, cleanupWorkflowId(allocationId, retryId));
    await step('cleanup.end', () => noteIdle(services, allocationId));
  },
};

export function cleanupWorkflowId(allocationId: string, retryId: string): string {
  return `cleanup:${allocationId}:${retryId}`;
}

async function noteIdle(services: Services, allocationId: string): Promise<void> {
  await services.db
    .updateTable('allocations')
    .set({ execution_state: 'idle' })
    .where('id', '=', allocationId)
    .execute();
}
