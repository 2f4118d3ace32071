import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { withdrawTasks } from '../fleet/withdraw-tasks.ts';
import { openIncident } from '../incidents/open-incident.ts';
import { destroyAccessKey } from './access-key.ts';
import { emitAllocation } from './allocation-events.ts';
import { claimedSlots, liveClaims } from './claims.ts';
import { endRelease } from './end-release.ts';
import { isBaremetal, lockAllocation, moveAllocation, type AllocationRow } from './move-allocation.ts';
import { forgetQueued } from './queue/leave-queue.ts';
import { quarantineHeld } from './quarantine-held.ts';
import type { AllocationState } from './states.ts';

/** The way out of each state that needs no host: to `failed` when nothing was delivered, else to `released`. */
const wayOut: Record<AllocationState, readonly AllocationState[]> = {
  queued: ['failed'],
  reserved: ['failed'],
  provisioning: ['failed'],
  active: ['releasing', 'released'],
  releasing: ['released'],
  release_failed: ['releasing', 'released'],
  released: [],
  failed: [],
};

/**
 * Ends an allocation without its host. Billing stops, open work is withdrawn, and what it held stays claimed and
 * quarantined: an operator's word ends a lease, only proof ends a quarantine.
 */
export async function forceRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  reason: string,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const row = await tx
      .selectFrom('allocations')
      .selectAll()
      .where('id', '=', allocationId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw notFound();
    const path = wayOut[row.state as AllocationState];
    if (path.length === 0) {
      throw new Problem('allocation_not_releasable', `The allocation is ${row.state} already.`, {
        extensions: { state: row.state },
      });
    }
    await withdrawTasks(services, tx, { allocationId }, 'An operator ended the allocation.');
    await destroyAccessKey(tx, allocationId);
    await forgetQueued(tx, allocationId);
    await walk(services, tx, row, path, reason);
    const ended = await lockAllocation(tx, allocationId);
    await keepInQuarantine(services, tx, ended, reason);
    return ended;
  });
}

async function walk(
  services: Services,
  tx: Tx,
  row: AllocationRow,
  path: readonly AllocationState[],
  reason: string,
): Promise<void> {
  const change = {
    desired_state: 'released',
    observed_state: 'unknown',
    execution_state: 'idle',
    release_requested_at: row.release_requested_at ?? services.clock.now(),
    connection: null,
    host_silent_since: null,
    machine_trouble: null,
    failure: JSON.stringify({ code: 'force_released', detail: `Ended by the operator: ${reason}` }),
  };
  const message = `Ended by the operator: ${reason}`;
  for (const state of path) {
    if (state === 'released') await endRelease(services, tx, row.id, { message, change });
    else if (state === 'failed') {
      const moved = await moveAllocation(tx, row.id, state, change);
      if (moved)
        await emitAllocation(tx, 'allocation.failed', moved, { stage: 'failed', status: 'failed', message });
    } else await moveAllocation(tx, row.id, state);
  }
}

async function keepInQuarantine(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  reason: string,
): Promise<void> {
  if ((await liveClaims(tx, allocation.id)) === 0) return;
  const detail = `Released without its host: ${reason}`;
  await quarantineHeld(tx, allocation, detail);
  const slots = isBaremetal(allocation) ? [] : await claimedSlots(tx, allocation.id);
  for (const slot of slots) {
    await openIncident(tx, services.clock.now(), {
      type: 'slot_cleanup_blocked',
      targetType: 'slot',
      targetId: slot.slot_id,
      summary: `Slot ${slot.slot_index} is quarantined: its allocation was released without its host.`,
      detail: { allocation_id: allocation.id, nvme_serial: slot.nvme_serial, reason },
    });
  }
  if (!isBaremetal(allocation)) return;
  await openIncident(tx, services.clock.now(), {
    type: 'host_cleanup_blocked',
    targetType: 'node',
    targetId: allocation.node_id!,
    summary: 'The host is quarantined: its baremetal lease was released without it.',
    detail: { allocation_id: allocation.id, reason },
  });
}
