import { sql, type RawBuilder } from 'kysely';

/** SQL condition: the workflow with this id prefix waits to start, is queued, or runs. */
export function workflowActiveSql(idPrefix: RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`(
    exists (select from workflow_starts s where starts_with(s.workflow_id, ${idPrefix}))
    or exists (select from dbos.workflow_status w where w.status in ('PENDING', 'ENQUEUED', 'DELAYED')
      and starts_with(w.workflow_uuid, ${idPrefix})))`;
}

/**
 * SQL condition: no such workflow is active, nor has been since then. A workflow that fails immediately must
 * not be restarted in a tight loop.
 */
export function workflowAbandonedSql(idPrefix: RawBuilder<string>, since: Date): RawBuilder<boolean> {
  return sql<boolean>`(not ${workflowActiveSql(idPrefix)} and not exists (select from dbos.workflow_status w
    where starts_with(w.workflow_uuid, ${idPrefix}) and w.updated_at > ${since.getTime()}))`;
}
