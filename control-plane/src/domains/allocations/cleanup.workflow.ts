import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { liveClaims } from './claims.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps, planCleanUpOf, type CleanUpPlan } from './clean-up.ts';
import { noteIdle } from './note-idle.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Names this retry; each is a workflow of its own. */
  retryId: string;
}

/** Another round for what an ended allocation still holds, started by an operator or by the reconciler. */
export const cleanupWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'allocation.cleanup',
  deadlineSeconds: ({ policies }) => 1.25 * cleanUpDeadline(policies),
  steps: ['cleanup.begin', ...cleanUpSteps('cleanup'), 'cleanup.end'],
  async run(services, { allocationId, retryId }) {
    const workflowId = cleanupWorkflowId(allocationId, retryId);
    const plan = await step('cleanup.begin', () => begin(services, allocationId));
    const run = { workflowId, prefix: 'cleanup', executionState: 'cleaning up' } as const;
    const result = plan === null ? 'clean' : await cleanUp(services, allocationId, run, plan);
    if (result !== 'withdrawn') await step('cleanup.end', () => noteIdle(services, allocationId, workflowId));
  },
};

/** Null when nothing is held any more. */
async function begin(services: Services, allocationId: string): Promise<CleanUpPlan | null> {
  const held = await liveClaims(services.db, allocationId);
  return held > 0 ? await planCleanUpOf(services, allocationId) : null;
}

export function cleanupWorkflowId(allocationId: string, retryId: string): string {
  return `cleanup:${allocationId}:${retryId}`;
}
