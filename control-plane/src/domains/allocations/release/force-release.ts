import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { cancelTasks } from '../../tasks/cancel-tasks.ts';
import { atRest } from '../execution.ts';
import { destroyAccessKey } from '../connection/access-key.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { liveClaims } from '../claims.ts';
import { completeRelease } from './complete-release.ts';
import { type AllocationRow, lockAllocation, transitionAllocation } from '../transition-allocation.ts';
import { removeFromQueue } from '../queue/leave-queue.ts';
import { quarantineHeldSlots } from '../cleanup/quarantine-slots.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import type { AllocationState } from '../states.ts';

/** Final state of each state that needs no host: `failed` if nothing was delivered, else `released`. */
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
 * Ends an allocation without its host. Billing stops, open tasks are cancelled, and its slots stay claimed
 * and quarantined: an operator can end a lease, only proof ends a quarantine.
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
    const path = wayOut[row.state];
    if (path.length === 0) {
      throw new Problem('allocation_not_releasable', `The allocation is ${row.state} already.`, {
        extensions: { state: row.state },
      });
    }
    await cancelTasks(
      services,
      tx,
      { subject: { type: 'allocation', id: allocationId } },
      'An operator ended the allocation.',
    );
    await destroyAccessKey(tx, allocationId);
    await removeFromQueue(tx, allocationId);
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
    ...atRest(),
    release_requested_at: row.release_requested_at ?? services.clock.now(),
    connection: null,
    host_silent_since: null,
    machine_trouble: null,
    failure: JSON.stringify({ code: 'force_released', detail: `Ended by the operator: ${reason}` }),
  } as const;
  const message = `Ended by the operator: ${reason}`;
  for (const state of path) {
    if (state === 'released') await completeRelease(services, tx, row.id, { message, change });
    else if (state === 'failed') {
      const moved = await transitionAllocation(tx, row.id, state, change);
      if (moved)
        await emitAllocation(tx, 'allocation.failed', moved, { stage: 'failed', status: 'failed', message });
    } else await transitionAllocation(tx, row.id, state);
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
  await quarantineHeldSlots(tx, allocation, detail);
  await shapeOf(allocation).reportLeftBehind(services, tx, allocation, reason);
}
