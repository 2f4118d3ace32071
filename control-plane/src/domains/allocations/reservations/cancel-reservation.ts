import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';

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

/** Its nodes are for everybody again. Cancelling twice changes nothing. */
export async function cancelReservation(tx: Tx, now: Date, id: string): Promise<void> {
  await tx
    .updateTable('capacity_reservations')
    .set({ cancelled_at: now })
    .where('id', '=', id)
    .where('cancelled_at', 'is', null)
    .execute();
  await withRole(tx, 'gpuaas_worker', () =>
    tx.deleteFrom('node_promises').where('reservation_id', '=', id).execute(),
  );
}

/** Promises whose time is over bind nobody; they are only in the way of reading. */
export const forgetPromises: Tick<Services> = {
  name: 'allocations.forget_promises',
  everySeconds: 60,
  catchUp: 'skip',
  run: async ({ db, clock }) => {
    await db.deleteFrom('node_promises').where('ends_at', '<=', clock.now()).execute();
  },
};
