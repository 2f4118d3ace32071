import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/generated/schema.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { requireNode } from './require-node.ts';

type TableOfNode = 'node_conversions' | 'maintenance_windows' | 'node_burn_ins';

/** What a table says of one host, newest first. */
export async function listOfNode<T extends TableOfNode, Item>(
  db: Db | Tx,
  table: T,
  nodeId: string,
  query: { limit: number; page?: string },
  describe: (row: Selectable<DB[T]>) => Item,
): Promise<{ items: Item[]; next_page: string | null }> {
  await requireNode(db, nodeId);
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom<TableOfNode>(table)
    .selectAll()
    .where('node_id', '=', nodeId)
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describe(row as Selectable<DB[T]>)), next_page: page.next_page };
}
