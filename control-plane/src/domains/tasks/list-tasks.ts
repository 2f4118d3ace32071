import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sanitize } from '@gpuaas/contracts/sanitize';
import type { Db, Tx } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { isOpenTask, OPEN_TASK_STATES } from './states.ts';

type NodeTask = components['schemas']['NodeTask'];
type NodeTaskState = components['schemas']['NodeTaskState'];

export interface TaskQuery {
  node_id?: string;
  subject_type?: string;
  subject_id?: string;
  kind?: string;
  state?: NodeTaskState;
  limit: number;
  page?: string;
}

export async function listTasks(db: Db | Tx, now: Date, query: TaskQuery): Promise<Page<NodeTask>> {
  const after = decodePage(query.page, ['uuid']);
  const { state } = query;
  const rows = await db
    .selectFrom('node_tasks')
    .selectAll()
    .$call(given(query.node_id, (q, nodeId) => q.where('node_id', '=', nodeId)))
    .$call(given(query.subject_type, (q, subjectType) => q.where('subject_type', '=', subjectType)))
    .$call(given(query.subject_id, (q, subjectId) => q.where('subject_id', '=', subjectId)))
    .$call(given(query.kind, (q, kind) => q.where('kind', '=', kind)))
    .$if(state === 'expired', (q) =>
      q.where((e) =>
        e.or([
          e('state', '=', 'expired'),
          e.and([e('state', 'in', OPEN_TASK_STATES), e('expires_at', '<', now)]),
        ]),
      ),
    )
    .$call(given(state === 'expired' ? undefined : state, (q, own) => q.where('state', '=', own)))
    .$if(state !== undefined && isOpenTask(state), (q) => q.where('expires_at', '>=', now))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeTask(row, now)), next_page: page.next_page };
}

/** An open task past its deadline is expired, even before a process has recorded it. */
export function describeTask(row: Selectable<NodeTasks>, now: Date): NodeTask {
  const overdue = isOpenTask(row.state) && row.expires_at < now;
  return {
    id: row.id,
    node_id: row.node_id,
    kind: row.kind,
    state: overdue ? 'expired' : row.state,
    epoch: row.epoch,
    stage: row.stage,
    percent: row.percent,
    message: row.message,
    created_at: row.created_at.toISOString(),
    claimed_at: row.claimed_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    subject: { type: row.subject_type, id: row.subject_id },
    workflow_id: row.workflow_id,
    correlation_id: row.correlation_id,
    error: sanitize(row.error) as NodeTask['error'],
  };
}
