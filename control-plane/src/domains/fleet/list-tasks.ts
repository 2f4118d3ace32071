import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sanitize } from '@gpuaas/contracts/sanitize';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';

type NodeTask = components['schemas']['NodeTask'];
type NodeTaskState = components['schemas']['NodeTaskState'];

export interface TaskQuery {
  node_id?: string;
  allocation_id?: string;
  kind?: string;
  state?: NodeTaskState;
  limit: number;
  page?: string;
}

const OPEN = ['queued', 'claimed'];

export async function listTasks(
  db: Db | Tx,
  now: Date,
  query: TaskQuery,
): Promise<{ items: NodeTask[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const { state } = query;
  const rows = await db
    .selectFrom('node_tasks')
    .selectAll()
    .$if(query.node_id !== undefined, (q) => q.where('node_id', '=', query.node_id!))
    .$if(query.allocation_id !== undefined, (q) => q.where('allocation_id', '=', query.allocation_id!))
    .$if(query.kind !== undefined, (q) => q.where('kind', '=', query.kind!))
    .$if(state === 'expired', (q) =>
      q.where((e) =>
        e.or([e('state', '=', 'expired'), e.and([e('state', 'in', OPEN), e('expires_at', '<', now)])]),
      ),
    )
    .$if(state !== undefined && state !== 'expired', (q) => q.where('state', '=', state!))
    .$if(state !== undefined && OPEN.includes(state), (q) => q.where('expires_at', '>=', now))
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeTask(row, now)), next_page: page.next_page };
}

/** An open task past its deadline is expired, whether or not anybody has written that down yet. */
export function describeTask(row: Selectable<NodeTasks>, now: Date): NodeTask {
  const overdue = OPEN.includes(row.state) && row.expires_at < now;
  return {
    id: row.id,
    node_id: row.node_id,
    kind: row.kind,
    state: overdue ? 'expired' : (row.state as NodeTaskState),
    epoch: row.epoch,
    stage: row.stage,
    percent: row.percent,
    message: row.message,
    created_at: row.created_at.toISOString(),
    claimed_at: row.claimed_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    allocation_id: row.allocation_id,
    workflow_id: row.workflow_id,
    correlation_id: row.correlation_id,
    error: sanitize(row.error) as NodeTask['error'],
  };
}
