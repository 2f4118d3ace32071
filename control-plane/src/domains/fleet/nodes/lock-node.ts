import type { Selectable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Nodes } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';

/** Serialises decisions about one host, and waits for claims that are being made on it. */
export async function lockNode(tx: Tx, nodeId: string): Promise<Selectable<Nodes>> {
  const node = await tx
    .selectFrom('nodes')
    .selectAll()
    .where('id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst();
  if (!node) throw notFound();
  return node;
}
