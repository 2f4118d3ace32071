import type { Db, Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { describeWindow, type MaintenanceWindow } from './maintenance-window.ts';
import { requireNode } from './require-node.ts';

export async function listMaintenance(
  db: Db | Tx,
  now: Date,
  nodeId: string,
  query: { limit: number; page?: string },
): Promise<{ items: MaintenanceWindow[]; next_page: string | null }> {
  await requireNode(db, nodeId);
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('maintenance_windows')
    .selectAll()
    .where('node_id', '=', nodeId)
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeWindow(row, now)), next_page: page.next_page };
}
