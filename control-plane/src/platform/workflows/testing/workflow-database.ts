import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openDatabase } from '../../db/database.ts';
import { createTestDatabase } from '../../db/testing.ts';
import { createLogger, type Logger } from '../../telemetry/logger.ts';
import { WorkflowClient } from '../workflow-client.ts';

export interface WorkflowTestDatabase extends Database {
  client: WorkflowClient;
  log: Logger;
  start(name: string, workflowId: string, input: object): Promise<void>;
  statusOf(workflowId: string): Promise<string | null>;
  /** Polls until the workflow has that status. */
  waitFor(workflowId: string, status: string, timeoutMs?: number): Promise<void>;
  drop(): Promise<void>;
}

/** A separate database with the tables of a workflow test. */
export async function openWorkflowDatabase(): Promise<WorkflowTestDatabase> {
  const test = await createTestDatabase();
  const database = openDatabase(test.url);
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  const client = await WorkflowClient.connect(test.url, log);
  const statusOf = async (workflowId: string): Promise<string | null> => {
    const text = 'select status from dbos.workflow_status where workflow_uuid = $1';
    const { rows } = await database.pool.query<{ status: string }>(text, [workflowId]);
    return rows[0]?.status ?? null;
  };
  return {
    ...database,
    client,
    log,
    statusOf,
    start: (name, workflowId, input) =>
      database.db.transaction().execute((tx) => client.start(tx, { name }, workflowId, input)),
    async waitFor(workflowId, status, timeoutMs = 20_000) {
      const deadline = Date.now() + timeoutMs;
      let found = await statusOf(workflowId);
      while (found !== status) {
        if (Date.now() > deadline)
          throw new Error(`${workflowId} is ${found}, not ${status}, after ${timeoutMs} ms`);
        await pause(25);
        found = await statusOf(workflowId);
      }
    },
    async drop() {
      await client.close();
      await database.close();
      await test.drop();
    },
  };
}
