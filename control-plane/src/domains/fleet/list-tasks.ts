import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';

type NodeTask = components['schemas']['NodeTask'];

export async function listTasks(
  db: Db,
  now: Date,
  query: { node_id?: string; limit: number; page?: string },
): Promise<{ items: NodeTask[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_tasks')
    .selectAll()
    .$if(query.node_id !== undefined, (q) => q.where('node_id', '=', query.node_id!))
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeTask(row, now)), next_page: page.next_page };
}

export function describeTask(row: Selectable<NodeTasks>, now: Date): NodeTask {
  const open = row.state === 'queued' || row.state === 'claimed';
  return {
    id: row.id,
    node_id: row.node_id,
    kind: row.kind,
    state: open && row.expires_at < now ? 'expired' : (row.state as NodeTask['state']),
    epoch: row.epoch,
    percent: row.percent,
    message: row.message,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    allocation_id: row.allocation_id,
    error: row.error as NodeTask['error'],
  };
}
