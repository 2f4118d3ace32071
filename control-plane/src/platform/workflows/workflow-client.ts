import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';
import { dispatchStarts } from './dispatch-starts.ts';
import { APPLICATION } from './names.ts';
import { systemDatabaseUrl } from './system-database.ts';

export interface WorkflowStart {
  workflowId: string;
  input: object;
}

/** The argument of `start_workflows`. */
export function startRows(starts: readonly WorkflowStart[]): string {
  return JSON.stringify(starts.map(({ workflowId, input }) => ({ workflow_id: workflowId, input })));
}

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
        systemDatabaseUrl: systemDatabaseUrl(url),
        applicationName: APPLICATION,
        systemDatabasePoolSize: 2,
        logger: dbosLogger(log),
      }),
    );
  }

  /** The workflow exists exactly when the transaction commits; the same id twice is one workflow. */
  async start(tx: Tx, name: string, workflowId: string, input: object): Promise<void> {
    await sql`select ${this.starting(name, [{ workflowId, input }])}`.execute(tx);
  }

  /** Many of one kind, as a part of a statement that writes what they work on. */
  starting(name: string, starts: readonly WorkflowStart[]): RawBuilder<void> {
    return sql`start_workflows(${name}, ${startRows(starts)})`;
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
