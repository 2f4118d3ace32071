import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { step, waitForWorkflow, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import { emitSlotsChanged } from '../../fleet/slots/transition-slots.ts';
import { openIncident } from '../../incidents/open-incident.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { atRest, executedBy } from '../execution.ts';
import {
  cleanUp,
  cleanUpDeadline,
  cleanUpSteps,
  planCleanUp,
  type CleanUpPlan,
  type CleanUpResult,
} from '../cleanup/clean-up.ts';
import type { CleanupCause } from '../cleanup/decide-cleanup.ts';
import type { CleanupServices } from '../cleanup/record-cleanup.ts';
import { detachWorkloads } from './detach-workloads.ts';
import type { LettingGo, ReleaseServices } from './release-hooks.ts';
import { completeRelease } from './complete-release.ts';
import {
  type AllocationRow,
  hostOf,
  lockAllocation,
  transitionAllocation,
} from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { provisionDeadline, provisionWorkflowId } from '../launch/provision.workflow.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Counts the release requests, so that each retry is a separate workflow. */
  attempt: number;
  /** Absent from runs of earlier releases and if no operator asked for it. */
  cause?: CleanupCause;
}

export const releaseWorkflow: WorkflowDefinition<ReleaseServices & CleanupServices, Input> = {
  name: 'allocation.release',
  // May have to wait for the provision workflow and for workloads first.
  deadlineSeconds: ({ policies }) =>
    provisionDeadline(policies) + LONGEST_LETTING_GO + 1.25 * cleanUpDeadline(policies),
  steps: ['release.workloads', 'release.begin', ...cleanUpSteps('release'), 'release.end'],
  async run(services, { allocationId, attempt, cause = 'release' }) {
    const request = { allocationId, attempt, cause };
    const lettingGo = await step('release.workloads', () => letGo(services, request));
    // Whatever has not ended by then ends with the machine, which is powered off.
    await Promise.all(
      lettingGo.workflowIds.map((id) => waitForWorkflow(id, { timeoutSeconds: lettingGo.seconds })),
    );
    let begun = await step('release.begin', () => begin(services, request));
    if (begun.kind === 'being_built') {
      // Released as soon as it settles, never half-created.
      await waitForWorkflow(provisionWorkflowId(allocationId));
      begun = await step('release.begin', () => begin(services, request, 'settled'));
    }
    if (begun.kind === 'nothing') return;
    // Also where an earlier release stored the step; the reconciler starts the release again.
    if (begun.kind !== 'taken') throw new Error('the release did not begin');
    const run = { workflowId: releaseWorkflowId(allocationId, attempt), prefix: 'release' } as const;
    const result = await cleanUp(services, allocationId, run, begun.plan);
    await step('release.end', () => end(services, allocationId, attempt, result));
  },
};

/** The most that a policy may give workloads to end. */
const LONGEST_LETTING_GO = 600;

async function letGo(
  services: ReleaseServices,
  { allocationId, attempt }: { allocationId: string; attempt: number },
): Promise<LettingGo> {
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.release_attempts !== attempt) return { workflowIds: [], seconds: 0 };
    const hooks = services.releaseHooks.flatMap((hook) => hook.letGo ?? []);
    const all: LettingGo[] = [];
    for (const hook of hooks) all.push(await hook(services, tx, current));
    return {
      workflowIds: all.flatMap(({ workflowIds }) => workflowIds),
      seconds: Math.max(0, ...all.map(({ seconds }) => seconds)),
    };
  });
}

export function releaseWorkflowId(allocationId: string, attempt: number): string {
  return `release:${allocationId}:${attempt}`;
}

/**
 * `nothing`: a failed launch cleans up separately, an operator may have ended it, and a repeated request has its
 * own workflow.
 */
type Begun = { kind: 'taken'; plan: CleanUpPlan } | { kind: 'being_built' | 'nothing' };

/** Takes the machine and all access to it out of use. */
async function begin(
  services: ReleaseServices,
  { allocationId, attempt, cause }: { allocationId: string; attempt: number; cause: CleanupCause },
  settled?: 'settled',
): Promise<Begun> {
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state === 'failed' || current.state === 'released') return { kind: 'nothing' };
    if (current.release_attempts !== attempt) return { kind: 'nothing' };
    if (!settled && (current.state === 'reserved' || current.state === 'provisioning'))
      return { kind: 'being_built' };
    const plan = planCleanUp(services.policies, current, cause);
    const execution = executedBy(releaseWorkflowId(allocationId, attempt), 'releasing');
    const moved = await transitionAllocation(tx, current, 'releasing', execution);
    if (!moved) {
      // The attempt before was given up after it took the machine.
      await tx.updateTable('allocations').set(execution).where('id', '=', allocationId).execute();
      return { kind: 'taken', plan };
    }
    await takeOutOfUse(tx, moved);
    await emitAllocation(tx, 'allocation.releasing', moved, {
      stage: 'release',
      status: 'done',
      message: moved.root_granted_at
        ? 'The host is taken back and erased'
        : 'The host was asked to stop the machine and wipe its disks',
      percent: 100,
    });
    await detachWorkloads(services, tx, moved);
    if (moved.root_granted_at) await emitErasing(tx, moved);
    return { kind: 'taken', plan };
  });
}

/** No node reports this step: the host is erased from outside. */
async function emitErasing(tx: Tx, allocation: AllocationRow): Promise<void> {
  await emitAllocation(tx, 'allocation.progress', allocation, {
    stage: 'erase',
    status: 'running',
    message: 'Erasing every disk of the host',
  });
}

async function takeOutOfUse(tx: Tx, allocation: AllocationRow): Promise<void> {
  await shapeOf(allocation).moveHeld(tx, allocation, { to: 'cleaning' });
  await emitSlotsChanged(tx, hostOf(allocation), allocation.correlation_id);
}

/** A late result of an earlier attempt, already reported by a process that died, has no effect. */
async function end(
  services: Services,
  allocationId: string,
  attempt: number,
  result: CleanUpResult,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const { state, release_attempts } = await lockAllocation(tx, allocationId);
    if (state !== 'releasing' || release_attempts !== attempt) return;
    if (result === 'clean') await completeRelease(services, tx, allocationId);
    else await failRelease(services, tx, allocationId);
  });
}

async function failRelease(services: Services, tx: Tx, allocationId: string): Promise<void> {
  const failure = {
    code: 'wipe_not_verified',
    detail: 'The capacity could not be proven clean; it is quarantined.',
  };
  const moved = await transitionAllocation(tx, allocationId, 'release_failed', {
    ...atRest('waiting_for_cleanup'),
    // The last report of a running machine is from before the release.
    observed_state: 'unknown',
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
