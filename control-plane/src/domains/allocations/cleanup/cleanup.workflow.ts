import type { Services } from '../../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import { liveClaims } from '../claims.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps, loadCleanUpPlan, type CleanUpPlan } from './clean-up.ts';
import type { CleanupCause } from './decide-cleanup.ts';
import type { CleanupServices } from './record-cleanup.ts';
import { markExecutionIdle } from './mark-execution-idle.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Identifies this retry; each is a separate workflow. */
  retryId: string;
  /** Absent from runs of earlier releases. */
  cause?: CleanupCause;
}

/**
 * Another cleanup of slots that an ended allocation still holds, started by an operator, or by the reconciler after
 * the workflow before it was lost.
 */
export const cleanupWorkflow: WorkflowDefinition<CleanupServices, Input> = {
  name: 'allocation.cleanup',
  deadlineSeconds: ({ policies }) => 1.25 * cleanUpDeadline(policies),
  steps: ['cleanup.begin', ...cleanUpSteps('cleanup'), 'cleanup.end'],
  async run(services, { allocationId, retryId, cause = 'failed_launch' }) {
    const workflowId = cleanupWorkflowId(allocationId, retryId);
    const plan = await step('cleanup.begin', () => begin(services, allocationId, cause));
    const run = { workflowId, prefix: 'cleanup' } as const;
    const result = plan === null ? 'clean' : await cleanUp(services, allocationId, run, plan);
    if (result !== 'withdrawn')
      await step('cleanup.end', () => markExecutionIdle(services, allocationId, workflowId));
  },
};

/** Null when nothing is held. */
async function begin(
  services: Services,
  allocationId: string,
  cause: CleanupCause,
): Promise<CleanUpPlan | null> {
  const held = await liveClaims(services.db, allocationId);
  return held > 0 ? await loadCleanUpPlan(services, allocationId, cause) : null;
}

export function cleanupWorkflowId(allocationId: string, retryId: string): string {
  return `cleanup:${allocationId}:${retryId}`;
}
