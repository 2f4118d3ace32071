import { DBOS } from '@dbos-inc/dbos-sdk';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';

const HEARTBEAT_MS = 1000;
const DEAD_AFTER = '6 seconds';
const SWEEP_LOCK = 4_872_003;

/** Each executor says it is alive; whoever holds the lock resumes the workflows of those that stopped saying it. */
export class ExecutorSweeper {
  readonly #db: Db;
  readonly #executorId: string;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(db: Db, executorId: string, log: Logger) {
    this.#db = db;
    this.#executorId = executorId;
    this.#log = log;
  }

  async register(): Promise<void> {
    await this.#heartbeat();
  }

  start(): void {
    const tick = (): void => {
      this.#running = this.#tick().finally(() => {
        if (!this.#stopped) this.#timer = setTimeout(tick, HEARTBEAT_MS);
      });
    };
    tick();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    // What this process leaves unfinished is free for the others at once.
    await this.#db
      .updateTable('workflow_executors')
      .set({ heartbeat_at: new Date(0) })
      .where('executor_id', '=', this.#executorId)
      .execute()
      .catch(() => undefined);
  }

  async #tick(): Promise<void> {
    try {
      await this.#heartbeat();
      await this.#sweep();
    } catch (error) {
      if (!this.#stopped) this.#log.warn({ err: error }, 'workflow sweep failed; trying again');
    }
  }

  async #heartbeat(): Promise<void> {
    await this.#db
      .insertInto('workflow_executors')
      .values({ executor_id: this.#executorId })
      .onConflict((c) => c.column('executor_id').doUpdateSet({ heartbeat_at: sql`now()` }))
      .execute();
  }

  async #sweep(): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as held`.execute(tx);
      if (!rows[0]?.held) return;
      const alive = await tx
        .selectFrom('workflow_executors')
        .select('executor_id')
        .where('heartbeat_at', '>', sql<Date>`now() - ${DEAD_AFTER}::interval`)
        .execute();
      const living = new Set(alive.map((row) => row.executor_id));
      const pending = await DBOS.listWorkflows({ status: 'PENDING', loadInput: false, loadOutput: false });
      const orphans = pending.filter((workflow) => workflow.executorId && !living.has(workflow.executorId));
      if (orphans.length === 0) return;
      const ids = orphans.map((workflow) => workflow.workflowID);
      this.#log.warn({ workflow_ids: ids.slice(0, 20), count: ids.length }, 'resuming workflows of a dead worker');
      await DBOS.resumeWorkflows(ids);
    });
  }
}
