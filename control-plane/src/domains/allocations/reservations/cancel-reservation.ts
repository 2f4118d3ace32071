import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { isUsed } from './list-reservations.ts';

/** A reservation that the transaction may see, locked. */
export async function findReservation(tx: Tx, id: string) {
  const row = await tx
    .selectFrom('capacity_reservations')
    .select(['id', 'organization_id', 'project_id', 'cancelled_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** Releases its nodes for every tenant. Cancelling twice changes nothing. */
export async function cancelReservation(
  services: Services,
  tx: Tx,
  id: string,
  by: 'tenant' | 'operator',
): Promise<void> {
  const now = services.clock.now();
  const row = await tx
    .updateTable('capacity_reservations')
    .set({ cancelled_at: now, ...(by === 'operator' ? { cancelled_by_operator: true } : {}) })
    .where('id', '=', id)
    .where('cancelled_at', 'is', null)
    .returning(['id', 'organization_id', 'gpu_count'])
    .executeTakeFirst();
  await withRole(tx, 'gpuaas_worker', async () => {
    if (row && (await isUsed(services, tx, row)))
      await tx.updateTable('capacity_reservations').set({ used_at: now }).where('id', '=', id).execute();
    await tx.deleteFrom('node_promises').where('reservation_id', '=', id).execute();
  });
}

/** Expired promises bind nobody; they only slow reads down. */
export const pruneExpiredHolds: Tick<Services> = {
  name: 'allocations.forget_promises',
  everySeconds: 60,
  catchUp: 'skip',
  run: async ({ db, clock }) => {
    await db.deleteFrom('node_promises').where('ends_at', '<=', clock.now()).execute();
  },
};
