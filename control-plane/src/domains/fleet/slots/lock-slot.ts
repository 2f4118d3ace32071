import type { Selectable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { NodeResourceSlots } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';

/** A slot of this host, locked until the transaction ends. */
export async function lockSlot(
  tx: Tx,
  nodeId: string,
  slotId: string,
): Promise<Selectable<NodeResourceSlots>> {
  const slot = await tx
    .selectFrom('node_resource_slots')
    .selectAll()
    .where('id', '=', slotId)
    .where('node_id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst();
  if (!slot) throw notFound();
  return slot;
}
