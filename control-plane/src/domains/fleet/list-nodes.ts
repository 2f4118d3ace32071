import type { Db, Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeNodes, type Node } from './describe-nodes.ts';
import type { Observer } from './reachability.ts';

export async function listNodes(
  observer: Observer,
  db: Db | Tx,
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
  return { items: await describeNodes(observer, db, page.rows), next_page: page.next_page };
}

export async function getNode(observer: Observer, db: Db | Tx, nodeId: string): Promise<Node> {
  const rows = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
  const [node] = await describeNodes(observer, db, rows);
  if (!node) throw notFound();
  return node;
}
