import { present } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { atRest } from '../execution.ts';
import { transitionAllocation, type AllocationRow } from '../transition-allocation.ts';

/** Removes a locked, queued launch from the queue. Nothing was built, so nothing needs cleanup. */
export async function cancelQueued(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  allocationId: string,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const now = clock.now();
    const moved = await transitionAllocation(tx, allocationId, 'released', {
      desired_state: 'released',
      observed_state: 'absent',
      ...atRest(),
      release_requested_at: now,
      released_at: now,
    });
    await removeFromQueue(tx, allocationId);
    await emitAllocation(tx, 'allocation.released', present(moved, 'queued allocation'), {
      stage: 'released',
      status: 'done',
      message: 'Cancelled in the queue before it started',
      percent: 100,
    });
    return present(moved, 'queued allocation');
  });
}

/** Removes the queue entry and any node hold. */
export async function removeFromQueue(tx: Tx, allocationId: string): Promise<void> {
  await tx.deleteFrom('queued_launches').where('allocation_id', '=', allocationId).execute();
  await tx.deleteFrom('node_promises').where('allocation_id', '=', allocationId).execute();
}

const BATCH = 100;

/** Ends launches whose time in the queue is over. */
export async function expireQueued(services: Services): Promise<void> {
  const now = services.clock.now();
  const due = await services.db
    .selectFrom('queued_launches')
    .select('allocation_id')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(BATCH)
    .execute();
  for (const { allocation_id } of due) {
    await services.db.transaction().execute(async (tx) => {
      const row = await tx
        .selectFrom('allocations')
        .select('id')
        .where('id', '=', allocation_id)
        .where('state', '=', 'queued')
        .forUpdate()
        .executeTakeFirst();
      if (!row) return;
      const failure = { code: 'queue_expired', detail: 'No capacity came free before the launch expired.' };
      const moved = await transitionAllocation(tx, allocation_id, 'failed', {
        observed_state: 'absent',
        ...atRest(),
        failure: JSON.stringify(failure),
      });
      await removeFromQueue(tx, allocation_id);
      await emitAllocation(tx, 'allocation.failed', present(moved, 'queued allocation'), {
        stage: 'failed',
        status: 'failed',
        message: failure.detail,
      });
    });
  }
}
