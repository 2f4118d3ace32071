import type { Db, Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';

/** Answers for a host that does not exist as for any other missing resource. */
export async function requireNode(db: Db | Tx, nodeId: string): Promise<void> {
  const node = await db.selectFrom('nodes').select('id').where('id', '=', nodeId).executeTakeFirst();
  if (!node) throw notFound();
}
