import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { APPLICATION, DEFAULT_QUEUE } from './queue-names.ts';

export interface LostExecutor {
  executorId: string;
  host: string;
  lastHeartbeatAt: Date;
}

export interface SweepResult {
  /** Died without saying so, noticed by this sweep. */
  lost: LostExecutor[];
  resumedWorkflowIds: string[];
}

const SWEEP_LOCK = 4_872_003;
/** How long a process that freezes during a sweep blocks other sweepers. */
const FROZEN_MS = 5_000;

/**
 * Returns the workflows of dead executors to the queue. One transaction decides which are dead, moves their
 * epochs and takes their workflows, so that neither two sweepers nor an executor that wakes up can both have
 * one.
 */
export async function sweepExecutors(
  db: Db,
  deadAfterMs: number,
  onLost: (tx: Tx, lost: LostExecutor[]) => Promise<void>,
): Promise<SweepResult> {
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ held: boolean }>`
      select set_config('idle_in_transaction_session_timeout', ${String(FROZEN_MS)}, true),
        pg_try_advisory_xact_lock(${SWEEP_LOCK}) as held`.execute(tx);
    if (!rows[0]?.held) return { lost: [], resumedWorkflowIds: [] };
    const silent = await markSilent(tx, deadAfterMs);
    const returned = await markReturned(tx);
    const resumedWorkflowIds = await takeWorkflows(tx, [
      ...silent.map((row) => row.executor_id),
      ...returned,
    ]);
    const lost = silent
      .filter((row) => row.stopped_at === null)
      .map((row) => ({ executorId: row.executor_id, host: row.host, lastHeartbeatAt: row.heartbeat_at }));
    if (lost.length > 0) await onLost(tx, lost);
    return { lost, resumedWorkflowIds };
  });
}

/** An executor whose heartbeat arrives first is checked again after the lock and stays alive. */
async function markSilent(tx: Tx, deadAfterMs: number) {
  return await tx
    .updateTable('workflow_executors')
    .set({ lost_at: sql`now()`, lost_count: sql`lost_count + 1` })
    .where('lost_at', 'is', null)
    .where('heartbeat_at', '<', sql<Date>`now() - make_interval(secs => ${deadAfterMs / 1000})`)
    .returning(['executor_id', 'host', 'heartbeat_at', 'stopped_at'])
    .execute();
}

/** Lost before, but its queue poller took work before its heartbeat came: that work is taken back as well. */
async function markReturned(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ executor_id: string }>`
    update workflow_executors set lost_count = lost_count + 1
    where lost_at < now()
      and executor_id in (select executor_id from dbos.workflow_status where status = 'PENDING')
    returning executor_id`.execute(tx);
  return rows.map((row) => row.executor_id);
}

/**
 * The engine's own recovery for one executor, here for several and in our transaction: the row keeps its
 * queue, loses its owner (which fences the old run's checkpoints) and is claimed again. The public
 * `resumeWorkflows` would also take a workflow that another executor has claimed in between.
 */
async function takeWorkflows(tx: Tx, executorIds: string[]): Promise<string[]> {
  const { rows } = await sql<{ workflow_uuid: string }>`
    update dbos.workflow_status w
    set status = 'ENQUEUED', owner_xid = null, started_at_epoch_ms = null,
        queue_name = coalesce(queue_name, ${DEFAULT_QUEUE}),
        updated_at = (extract(epoch from now()) * 1000)::bigint
    where status = 'PENDING' and application_name = ${APPLICATION}
      and (executor_id = any(${executorIds})
        or not exists (select 1 from workflow_executors e where e.executor_id = w.executor_id))
    returning workflow_uuid`.execute(tx);
  return rows.map((row) => row.workflow_uuid);
}
