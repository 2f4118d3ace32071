import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { step, waitForWorkflow, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { destroyAccessKey } from './access-key.ts';
import { emitAllocation } from './allocation-events.ts';
import { claimedSlots } from './claims.ts';
import { lockAllocation, moveAllocation } from './move-allocation.ts';
import { provisionDeadline, provisionWorkflowId } from './provision.workflow.ts';
import { wipeDeadline, wipeSlots } from './wipe-slots.ts';

interface Input {
  allocationId: string;
  correlationId: string;
  /** Counts the release requests, so that a retry is a workflow of its own. */
  attempt: number;
}

export const releaseWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'allocation.release',
  // May have to wait for the provision first.
  deadlineSeconds: ({ policies }) => provisionDeadline(policies) + 1.25 * wipeDeadline(policies),
  async run(services, { allocationId, attempt }) {
    // A machine that is still being built is released as soon as it settles, never torn out half-made.
    await waitForWorkflow(provisionWorkflowId(allocationId));
    const begun = await step('release.begin', () => begin(services, allocationId));
    if (!begun) return;
    const clean = await wipeSlots(services, allocationId, releaseWorkflowId(allocationId, attempt));
    await step('release.end', () => end(services, allocationId, clean));
  },
};

export function releaseWorkflowId(allocationId: string, attempt: number): string {
  return `release:${allocationId}:${attempt}`;
}

/** False when provisioning had failed: its own cleanup has dealt with the slots. */
async function begin(services: Services, allocationId: string): Promise<boolean> {
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state === 'failed' || current.state === 'released') return false;
    const moved = await moveAllocation(tx, allocationId, 'releasing', { execution_state: 'releasing' });
    if (!moved) return true;
    await destroyAccessKey(tx, allocationId);
    const slots = await claimedSlots(tx, allocationId);
    await moveSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      { to: 'cleaning' },
    );
    await emitAllocation(tx, 'allocation.releasing', moved, {
      stage: 'release',
      status: 'done',
      message: 'The host was asked to stop the machine and wipe its disks',
      percent: 100,
    });
    await emitSlotsChanged(tx, moved.node_id!, moved.correlation_id);
    return true;
  });
}

async function end(services: Services, allocationId: string, clean: boolean): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    if (clean) {
      await endRelease(services, tx, allocationId);
      return;
    }
    const failure = {
      code: 'wipe_not_verified',
      detail: 'The disks could not be proven clean; they are quarantined.',
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
        'The wipe of its slots could not be proven; the allocation is release_failed and billing has stopped.',
      detail: { node_id: moved.node_id },
    });
  });
}

const GIVEN_BACK = 'Wiped, verified and given back';

async function endRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  message = GIVEN_BACK,
): Promise<void> {
  const now = services.clock.now();
  const moved = await moveAllocation(tx, allocationId, 'released', {
    observed_state: 'absent',
    execution_state: 'idle',
    released_at: now,
    connection: null,
    failure: null,
  });
  if (!moved) return;
  await emitAllocation(tx, 'allocation.released', moved, {
    stage: 'released',
    status: 'done',
    message,
    percent: 100,
  });
  const incident = { type: 'allocation_release_failed', targetId: allocationId } as const;
  await resolveIncident(tx, now, incident, 'The allocation was released.');
}

/** A release that had failed ends when an operator has settled the last slot it held. */
export async function endSettledRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  message?: string,
): Promise<void> {
  const { state } = await lockAllocation(tx, allocationId);
  if (state !== 'release_failed' || (await claimedSlots(tx, allocationId)).length > 0) return;
  await moveAllocation(tx, allocationId, 'releasing', { execution_state: 'releasing' });
  await endRelease(services, tx, allocationId, message);
}
