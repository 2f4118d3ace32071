import type { Db, Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeNodes, type Node } from './describe-nodes.ts';

export async function listNodes(
  db: Db | Tx,
  now: Date,
  query: { limit: number; page?: string },
): Promise<{ items: Node[]; next_page: string | null }> {
  const after = decodePage(query.page, ['text']);
  const rows = await db
    .selectFrom('nodes')
    .selectAll()
    .$if(after !== null, (q) => q.where('hostname', '>', after![0]!))
    .orderBy('hostname')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.hostname]);
  return { items: await describeNodes(db, now, page.rows), next_page: page.next_page };
}

export async function getNode(db: Db | Tx, now: Date, nodeId: string): Promise<Node> {
  const rows = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
  const [node] = await describeNodes(db, now, rows);
  if (!node) throw notFound();
  return node;
}
