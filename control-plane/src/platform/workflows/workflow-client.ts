import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';
import { dispatchStarts } from './dispatch-starts.ts';
import { APPLICATION } from './queue-names.ts';
import { systemDatabaseUrl } from './system-database.ts';

export interface WorkflowStart {
  workflowId: string;
  input: object;
}

/** Which workflow to start: its definition, or the part of it that names it. */
export interface WorkflowName {
  name: string;
  queue?: string;
}

/** The argument of `start_workflows`. */
export function startRows({ queue }: WorkflowName, starts: readonly WorkflowStart[]): string {
  return JSON.stringify(starts.map(({ workflowId, input }) => ({ workflow_id: workflowId, input, queue })));
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
  async start(tx: Tx, workflow: WorkflowName, workflowId: string, input: object): Promise<void> {
    await sql`select ${this.starting(workflow, [{ workflowId, input }])}`.execute(tx);
  }

  /** Many of one kind, as a part of a statement that writes what they work on. */
  starting(workflow: WorkflowName, starts: readonly WorkflowStart[]): RawBuilder<void> {
    return sql`start_workflows(${workflow.name}, ${startRows(workflow, starts)})`;
  }

  /** One message per topic, delivered whether the workflow runs, is queued or still is a start row. */
  async signal(tx: Tx, workflowId: string, topic: string, message: object): Promise<void> {
    await sql`select signal_workflow(${workflowId}, ${topic}, ${JSON.stringify(message)}::json)`.execute(tx);
  }

  /** Forced cancellation: the step in flight ends, no other follows. Ended workflows stay unchanged. */
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
