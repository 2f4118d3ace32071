import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { step, waitForWorkflow, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { emitSlotsChanged, moveNodeSlots, moveSlots } from '../fleet/slot-states.ts';
import { openIncident } from '../incidents/open-incident.ts';
import { emitAllocation } from './allocation-events.ts';
import { claimedSlots } from './claims.ts';
import {
  cleanUp,
  cleanUpDeadline,
  cleanUpSteps,
  planCleanUp,
  type CleanUpPlan,
  type CleanUpResult,
} from './clean-up.ts';
import { detachWorkloads } from './detach-workloads.ts';
import { endRelease } from './end-release.ts';
import { isBaremetal, lockAllocation, moveAllocation, type AllocationRow } from './move-allocation.ts';
import { provisionDeadline, provisionWorkflowId } from './provision.workflow.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Counts the release requests, so that a retry is a workflow of its own. */
  attempt: number;
}

export const releaseWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'allocation.release',
  // May have to wait for the provision first.
  deadlineSeconds: ({ policies }) => provisionDeadline(policies) + 1.25 * cleanUpDeadline(policies),
  steps: ['release.begin', ...cleanUpSteps('release'), 'release.end'],
  async run(services, { allocationId, attempt }) {
    let plan = await step('release.begin', () => begin(services, allocationId, attempt));
    if (plan === 'being built') {
      // It is released as soon as it settles, never torn out half-made.
      await waitForWorkflow(provisionWorkflowId(allocationId));
      plan = await step('release.begin', () => begin(services, allocationId, attempt, 'settled'));
    }
    if (plan === null || plan === 'being built') return;
    const run = {
      workflowId: releaseWorkflowId(allocationId, attempt),
      prefix: 'release',
      executionState: 'releasing',
    } as const;
    const result = await cleanUp(services, allocationId, run, plan);
    await step('release.end', () => end(services, allocationId, attempt, result));
  },
};

export function releaseWorkflowId(allocationId: string, attempt: number): string {
  return `release:${allocationId}:${attempt}`;
}

/**
 * Takes the machine and every way into it out of use. Null when there is nothing to release: a failed launch cleans up by
 * itself, an operator may have ended it, and whoever asked again has a workflow of its own.
 */
async function begin(
  services: Services,
  allocationId: string,
  attempt: number,
  settled?: 'settled',
): Promise<CleanUpPlan | 'being built' | null> {
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state === 'failed' || current.state === 'released') return null;
    if (current.release_attempts !== attempt) return null;
    if (!settled && (current.state === 'reserved' || current.state === 'provisioning')) return 'being built';
    const plan = planCleanUp(services.policies, current);
    const moved = await moveAllocation(tx, current, 'releasing', { execution_state: 'releasing' });
    if (!moved) return plan;
    await takeOutOfUse(tx, moved);
    await emitAllocation(tx, 'allocation.releasing', moved, {
      stage: 'release',
      status: 'done',
      message: moved.root_granted_at
        ? 'The host is taken back and erased'
        : 'The host was asked to stop the machine and wipe its disks',
      percent: 100,
    });
    await detachWorkloads(tx, moved);
    return plan;
  });
}

async function takeOutOfUse(tx: Tx, allocation: AllocationRow): Promise<void> {
  const slots = await claimedSlots(tx, allocation.id);
  if (isBaremetal(allocation)) await moveNodeSlots(tx, allocation.node_id!, { to: 'cleaning' });
  else if (slots.length > 0) {
    await moveSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      { to: 'cleaning' },
    );
  }
  await emitSlotsChanged(tx, allocation.node_id!, allocation.correlation_id);
}

/** The late word of an earlier attempt, which a process that died had said already, decides nothing any more. */
async function end(
  services: Services,
  allocationId: string,
  attempt: number,
  result: CleanUpResult,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const { state, release_attempts } = await lockAllocation(tx, allocationId);
    if (state !== 'releasing' || release_attempts !== attempt) return;
    if (result === 'clean') await endRelease(services, tx, allocationId);
    else await failRelease(services, tx, allocationId);
  });
}

async function failRelease(services: Services, tx: Tx, allocationId: string): Promise<void> {
  const failure = {
    code: 'wipe_not_verified',
    detail: 'The capacity could not be proven clean; it is quarantined.',
  };
  const moved = await moveAllocation(tx, allocationId, 'release_failed', {
    execution_state: 'waiting for cleanup',
    failure: JSON.stringify(failure),
  });
  if (!moved) return;
  await emitAllocation(tx, 'allocation.release_failed', moved, {
    stage: 'failed',
    status: 'failed',
    message: `${failure.detail} Billing has stopped.`,
  });
  await openIncident(tx, services.clock.now(), {
    type: 'allocation_release_failed',
    targetType: 'allocation',
    targetId: allocationId,
    summary:
      'The cleanup of what it held could not be proven; the allocation is release_failed and billing has stopped.',
    detail: { node_id: moved.node_id },
  });
}
