import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { APPLICATION } from './queue-names.ts';

export interface OverdueWorkflow {
  workflowId: string;
  name: string;
  status: string;
  since: Date;
  deadlineSeconds: number | null;
}

/**
 * Workflows that did not end within their declared deadline, and those the engine gave up on. An undeclared
 * workflow cannot run at all, so it is overdue after `undeclaredSeconds`.
 */
export async function overdueWorkflows(
  db: Db,
  definitions: readonly { name: string; deadlineSeconds: number }[],
  options: { now: Date; undeclaredSeconds: number; limit: number },
): Promise<OverdueWorkflow[]> {
  const names = definitions.map((definition) => definition.name);
  const seconds = definitions.map((definition) => definition.deadlineSeconds);
  const { rows } = await sql<{
    workflow_id: string;
    name: string;
    status: string;
    since: Date;
    deadline_seconds: number | null;
  }>`
    with declared as (
      select * from unnest(${names}::text[], ${seconds}::integer[]) as declared (name, deadline_seconds)
    ), unended as (
      select workflow_uuid as workflow_id, name, status, to_timestamp(created_at / 1000.0) as since
      from dbos.workflow_status
      where application_name = ${APPLICATION}
        and status in ('PENDING', 'ENQUEUED', 'DELAYED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
      union all
      select workflow_id, name, 'NOT_DISPATCHED', created_at from workflow_starts
    )
    select * from unended left join declared using (name)
    where status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'
      or since < ${options.now}::timestamptz
        - make_interval(secs => coalesce(deadline_seconds, ${options.undeclaredSeconds}))
    order by since limit ${options.limit}`.execute(db);
  return rows.map((row) => ({
    workflowId: row.workflow_id,
    name: row.name,
    status: row.status,
    since: row.since,
    deadlineSeconds: row.deadline_seconds,
  }));
}
