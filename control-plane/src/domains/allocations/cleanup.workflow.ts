import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { liveClaims } from './claims.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps } from './clean-up.ts';
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
    const held = await step('cleanup.begin', () => liveClaims(services.db, allocationId));
    const run = { workflowId, prefix: 'cleanup', executionState: 'cleaning up' } as const;
    const result = held > 0 ? await cleanUp(services, allocationId, run) : 'clean';
    if (result !== 'withdrawn') await step('cleanup.end', () => noteIdle(services, allocationId));
  },
};

export function cleanupWorkflowId(allocationId: string, retryId: string): string {
  return `cleanup:${allocationId}:${retryId}`;
}
