import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';

export type Cordon = components['schemas']['Cordon'];
export type CordonReason = Cordon['reason'];

/** Stops placement on the host for this reason. True when it was not cordoned for it before. */
export async function cordonNode(
  tx: Tx,
  nodeId: string,
  cordon: { reason: CordonReason; detail: string; since: Date },
): Promise<boolean> {
  const { reason, since } = cordon;
  const added = await tx
    .insertInto('node_cordons')
    .values({ node_id: nodeId, reason, detail: cordon.detail.slice(0, 500), since })
    // Without naming columns: the role that enrols hosts may insert cordons but not read them.
    .onConflict((c) => c.doNothing())
    .executeTakeFirst();
  return Number(added.numInsertedOrUpdatedRows ?? 0) > 0;
}

/** Removes a cordon whose cause is gone. True if there was one. */
export async function uncordonNode(tx: Tx, nodeId: string, reason: CordonReason): Promise<boolean> {
  const lifted = await tx
    .deleteFrom('node_cordons')
    .where('node_id', '=', nodeId)
    .where('reason', '=', reason)
    .executeTakeFirst();
  return lifted.numDeletedRows > 0n;
}

export async function cordonsByNode(db: Db | Tx, nodeIds: string[]): Promise<Map<string, Cordon[]>> {
  const rows = await db
    .selectFrom('node_cordons')
    .selectAll()
    .where('node_id', 'in', nodeIds)
    .orderBy('since')
    .orderBy('reason')
    .execute();
  const cordons = new Map<string, Cordon[]>();
  for (const row of rows) {
    const cordon = {
      reason: row.reason,
      detail: row.detail,
      since: row.since.toISOString(),
    };
    cordons.set(row.node_id, [...(cordons.get(row.node_id) ?? []), cordon]);
  }
  return cordons;
}
