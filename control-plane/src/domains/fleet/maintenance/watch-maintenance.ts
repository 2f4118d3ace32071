import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { cordonNode, uncordonNode } from '../nodes/cordons.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { one } from '../../../platform/db/one.ts';

/** Starts and ends windows by the clock. */
export const watchMaintenance: Tick<Services> = {
  name: 'fleet.watch_maintenance',
  everySeconds: 5,
  catchUp: 'skip',
  async run({ db, clock }) {
    const now = clock.now();
    await db.transaction().execute(async (tx) => {
      const changed = [...(await cordonBegun(tx, now)), ...(await liftEnded(tx, now))];
      for (const nodeId of changed) await emitNodeChanged(tx, nodeId, 'cordons_changed', newId());
    });
  },
};

async function cordonBegun(tx: Tx, now: Date): Promise<string[]> {
  const begun = await tx
    .selectFrom('maintenance_windows')
    .select(['node_id', 'reason', 'starts_at'])
    .where('cancelled_at', 'is', null)
    .where('starts_at', '<=', now)
    .where('ends_at', '>', now)
    .execute();
  const cordoned: string[] = [];
  for (const { node_id, reason, starts_at } of begun) {
    const cordon = { reason: 'maintenance', detail: reason, since: starts_at } as const;
    if (await cordonNode(tx, node_id, cordon)) cordoned.push(node_id);
  }
  return cordoned;
}

async function liftEnded(tx: Tx, now: Date): Promise<string[]> {
  const cordoned = await tx
    .selectFrom('node_cordons')
    .select('node_id')
    .where('reason', '=', 'maintenance')
    .execute();
  const lifted: string[] = [];
  for (const { node_id } of cordoned) {
    if (await uncordonAfterMaintenance(tx, node_id, now)) lifted.push(node_id);
  }
  return lifted;
}

/** Removes the cordon unless another window of the host is still in progress. */
export async function uncordonAfterMaintenance(tx: Tx, nodeId: string, now: Date): Promise<boolean> {
  const row = await one(
    sql<{ busy: boolean }>`
    select exists (
      select from maintenance_windows
      where node_id = ${nodeId} and cancelled_at is null and starts_at <= ${now} and ends_at > ${now}
    ) as busy`,
    tx,
  );
  return row.busy ? false : await uncordonNode(tx, nodeId, 'maintenance');
}
