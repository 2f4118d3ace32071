import { DBOSClient } from '@dbos-inc/dbos-sdk';
import type { ClientBase } from 'pg';
import { CompiledQuery } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';

export const APPLICATION = 'gpuaas';
export const QUEUE = 'allocations';

/** Starts and signals workflows inside the caller's transaction; safe in every process. */
export class WorkflowClient {
  readonly #client: DBOSClient;

  private constructor(client: DBOSClient) {
    this.#client = client;
  }

  static async connect(url: string, log: Logger): Promise<WorkflowClient> {
    const client = await DBOSClient.create({
      systemDatabaseUrl: url,
      applicationName: APPLICATION,
      systemDatabasePoolSize: 2,
      logger: dbosLogger(log),
    });
    return new WorkflowClient(client);
  }

  /** The workflow exists exactly when the transaction commits; the same id twice is one workflow. */
  async start(tx: Tx, name: string, workflowId: string, input: object): Promise<void> {
    await this.#client.enqueueInTransaction(
      clientOf(tx),
      { queueName: QUEUE, workflowName: name, workflowID: workflowId },
      input,
    );
  }

  async signal(tx: Tx, workflowId: string, topic: string, message: object): Promise<void> {
    await this.#client.sendInTransaction(clientOf(tx), workflowId, message, topic, `${workflowId}:${topic}`);
  }

  async close(): Promise<void> {
    await this.#client.destroy();
  }
}

/** DBOS only calls `query(text, values)` on the client it is given. */
function clientOf(tx: Tx): ClientBase {
  const query = async (text: string, values: unknown[] = []): Promise<{ rows: unknown[]; rowCount: number }> => {
    const result = await tx.executeQuery(CompiledQuery.raw(text, values));
    return { rows: result.rows, rowCount: Number(result.numAffectedRows ?? result.rows.length) };
  };
  return { query } as unknown as ClientBase;
}
