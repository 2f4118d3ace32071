import type { Db, Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { requireNode } from '../require-node.ts';
import { describeConversion, type NodeConversion } from './request-conversion.ts';

export async function listConversions(
  db: Db | Tx,
  nodeId: string,
  query: { limit: number; page?: string },
): Promise<{ items: NodeConversion[]; next_page: string | null }> {
  await requireNode(db, nodeId);
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_conversions')
    .selectAll()
    .where('node_id', '=', nodeId)
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeConversion), next_page: page.next_page };
}
