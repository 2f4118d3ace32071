import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { describeNodes, type Node, type NodeObserver } from './describe-nodes.ts';

export async function listNodes(
  observer: NodeObserver,
  db: Db | Tx,
  query: { limit: number; page?: string },
): Promise<Page<Node>> {
  const after = decodePage(query.page, ['text']);
  const rows = await db
    .selectFrom('nodes')
    .selectAll()
    .$call(fromCursor(after, (q, [hostname]) => q.where('hostname', '>', hostname)))
    .orderBy('hostname')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.hostname]);
  return { items: await describeNodes(observer, db, page.rows), next_page: page.next_page };
}

export async function getNode(observer: NodeObserver, db: Db | Tx, nodeId: string): Promise<Node> {
  const rows = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
  const [node] = await describeNodes(observer, db, rows);
  if (!node) throw notFound();
  return node;
}
