import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';
import { dispatchStarts } from './dispatch-starts.ts';
import { APPLICATION, STARTS_CHANNEL } from './names.ts';

/** Starts and signals workflows inside the caller's transaction; safe in every process. */
export class WorkflowClient {
  readonly #connect: () => Promise<DBOSClient>;
  #client: Promise<DBOSClient> | undefined;

  private constructor(connect: () => Promise<DBOSClient>) {
    this.#connect = connect;
  }

  static async connect(url: string, log: Logger): Promise<WorkflowClient> {
    return new WorkflowClient(() =>
      DBOSClient.create({
        systemDatabaseUrl: url,
        applicationName: APPLICATION,
        systemDatabasePoolSize: 2,
        logger: dbosLogger(log),
      }),
    );
  }

  /** The workflow exists exactly when the transaction commits; the same id twice is one workflow. */
  async start(tx: Tx, name: string, workflowId: string, input: object): Promise<void> {
    await this.startAll(tx, name, [{ workflowId, input }]);
  }

  /** Many of one kind in one statement. */
  async startAll(
    tx: Tx,
    name: string,
    starts: readonly { workflowId: string; input: object }[],
  ): Promise<void> {
    await sql`
      with started as (
        insert into workflow_starts (workflow_id, name, input)
        select s.workflow_id, ${name}, s.input
        from json_to_recordset(${JSON.stringify(starts.map(({ workflowId, input }) => ({ workflow_id: workflowId, input })))})
          as s (workflow_id text, input jsonb)
        on conflict (workflow_id) do nothing returning 1
      )
      select pg_notify(${STARTS_CHANNEL}, '') from started limit 1`.execute(tx);
  }

  /** One message per topic, delivered whether the workflow runs, waits in the queue or still is a start row. */
  async signal(tx: Tx, workflowId: string, topic: string, message: object): Promise<void> {
    await sql`select signal_workflow(${workflowId}, ${topic}, ${JSON.stringify(message)}::json)`.execute(tx);
  }

  /** The forced way out: the step in flight ends, no other follows. Ended workflows stay as they are. */
  async cancel(db: Db, workflowId: string): Promise<void> {
    // As a start row it would be started after its cancellation.
    await dispatchStarts(db, { workflowId });
    this.#client ??= this.#connect();
    await (await this.#client).cancelWorkflow(workflowId);
  }

  async close(): Promise<void> {
    await (await this.#client)?.destroy();
  }
}
