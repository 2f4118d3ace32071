import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';
import { emitAllocation } from '../allocation-events.ts';
import { moveAllocation, type AllocationRow } from '../move-allocation.ts';

/** Takes a locked, queued launch out of the line. Nothing was built, so nothing is left to do. */
export async function cancelQueued(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  allocationId: string,
): Promise<AllocationRow> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const now = clock.now();
    const moved = await moveAllocation(tx, allocationId, 'released', {
      desired_state: 'released',
      observed_state: 'absent',
      execution_state: 'idle',
      release_requested_at: now,
      released_at: now,
    });
    await forgetQueued(tx, allocationId);
    await emitAllocation(tx, 'allocation.released', moved!, {
      stage: 'released',
      status: 'done',
      message: 'Taken out of the line before it began',
      percent: 100,
    });
    return moved!;
  });
}

/** Its place in line, and the node that may have been kept for it. */
export async function forgetQueued(tx: Tx, allocationId: string): Promise<void> {
  await tx.deleteFrom('queued_launches').where('allocation_id', '=', allocationId).execute();
  await tx.deleteFrom('node_promises').where('allocation_id', '=', allocationId).execute();
}

const AT_ONCE = 100;

/** Gives up launches that have waited as long as they may. */
export async function expireQueued(services: Services): Promise<void> {
  const now = services.clock.now();
  const due = await services.db
    .selectFrom('queued_launches')
    .select('allocation_id')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(AT_ONCE)
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
      const failure = { code: 'queue_expired', detail: 'No capacity came free in the time it may wait.' };
      const moved = await moveAllocation(tx, allocation_id, 'failed', {
        observed_state: 'absent',
        execution_state: 'idle',
        failure: JSON.stringify(failure),
      });
      await forgetQueued(tx, allocation_id);
      await emitAllocation(tx, 'allocation.failed', moved!, {
        stage: 'failed',
        status: 'failed',
        message: failure.detail,
      });
    });
  }
}
