import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { APPLICATION } from './queue-names.ts';

/**
 * Moves start rows into the engine's queue, with the signals that came early. One transaction: a crash leaves
 * the rows or the workflows, never both or neither. Rows locked by another dispatcher are skipped.
 */
export async function dispatchStarts(
  db: Db,
  which: { limit: number } | { workflowId: string },
): Promise<number> {
  return await db.transaction().execute(async (tx) => {
    const batch =
      'limit' in which
        ? sql`order by position limit ${which.limit} for update skip locked`
        : sql`where workflow_id = ${which.workflowId} for update`;
    const { rows } = await sql<{ workflow_id: string }>`
      with batch as materialized (select workflow_id from workflow_starts ${batch}),
      moved as (
        delete from workflow_starts s using batch where s.workflow_id = batch.workflow_id
        returning s.workflow_id, s.name, s.input, s.queue, s.position
      )
      select dbos.enqueue_workflow(name, queue, array[input::json],
        workflow_id => moved.workflow_id, application_name => ${APPLICATION}) as workflow_id
      from moved order by position`.execute(tx);
    if (rows.length > 0)
      await deliverEarlySignals(
        tx,
        rows.map((row) => row.workflow_id),
      );
    return rows.length;
  });
}

async function deliverEarlySignals(tx: Tx, workflowIds: string[]): Promise<void> {
  await sql`
    with early as (
      delete from workflow_signals where workflow_id = any(${workflowIds})
      returning workflow_id, topic, message, created_at
    )
    select dbos.send_message(workflow_id, message::json, topic, workflow_id || '::' || topic)
    from early order by created_at`.execute(tx);
}
