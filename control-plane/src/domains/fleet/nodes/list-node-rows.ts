import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import type { DB } from '../../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { requireNode } from './require-node.ts';

type TableOfNode = 'node_conversions' | 'maintenance_windows' | 'node_burn_ins';

/** Rows of a table for one host, newest first. */
export async function listNodeRows<T extends TableOfNode, Item>(
  db: Db | Tx,
  table: T,
  nodeId: string,
  query: { limit: number; page?: string },
  describe: (row: Selectable<DB[T]>) => Item,
): Promise<Page<Item>> {
  await requireNode(db, nodeId);
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom<TableOfNode>(table)
    .selectAll()
    .where('node_id', '=', nodeId)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describe(row as Selectable<DB[T]>)), next_page: page.next_page };
}
