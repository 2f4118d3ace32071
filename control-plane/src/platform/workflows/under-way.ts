import { sql, type RawBuilder } from 'kysely';

/** Whether somebody will yet go on with the workflow whose id begins so: it waits to start, is queued, or runs. */
export function underWay(idPrefix: RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`(
    exists (select from workflow_starts s where starts_with(s.workflow_id, ${idPrefix}))
    or exists (select from dbos.workflow_status w where w.status in ('PENDING', 'ENQUEUED', 'DELAYED')
      and starts_with(w.workflow_uuid, ${idPrefix})))`;
}

/** Whether nobody goes on with it, nor has since then: what fails at once must not be begun again at once for ever. */
export function isAbandoned(idPrefix: RawBuilder<string>, since: Date): RawBuilder<boolean> {
  return sql<boolean>`(not ${underWay(idPrefix)} and not exists (select from dbos.workflow_status w
    where starts_with(w.workflow_uuid, ${idPrefix}) and w.updated_at > ${since.getTime()}))`;
}
