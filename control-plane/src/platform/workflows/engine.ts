import { hostname } from 'node:os';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Database } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';
import type { WorkflowDefinition } from './definition.ts';
import { ExecutorSweeper } from './sweeper.ts';
import { APPLICATION, QUEUE } from './workflow-client.ts';

export interface WorkflowEngine {
  executorId: string;
  stop(): Promise<void>;
}

/** Pinned: recovery filters by it, and workflows must outlive a deploy. */
const APPLICATION_VERSION = '1';
const CONCURRENCY = 100;

/** Runs workflows in this process. One engine per process; any number of processes per database. */
export async function startWorkflowEngine<Services>(options: {
  database: Database;
  services: Services;
  definitions: WorkflowDefinition<Services, never>[];
  log: Logger;
}): Promise<WorkflowEngine> {
  const { database, services, definitions, log } = options;
  for (const definition of definitions) {
    DBOS.registerWorkflow((input: never) => definition.run(services, input), { name: definition.name });
  }
  // Unique per process: two live processes with one id would run the same steps twice.
  const executorId = `${hostname()}-${process.pid}-${newId()}`;
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: database.url,
    systemDatabasePoolSize: 10,
    applicationVersion: APPLICATION_VERSION,
    executorID: executorId,
    logger: dbosLogger(log),
  });
  const sweeper = new ExecutorSweeper(database.db, executorId, log);
  await sweeper.register();
  await DBOS.launch();
  await DBOS.registerQueue(QUEUE, {
    workerConcurrency: CONCURRENCY,
    minPollingIntervalMs: 100,
    onConflict: 'always_update',
  });
  sweeper.start();
  return {
    executorId,
    async stop() {
      await sweeper.stop();
      await DBOS.shutdown();
    },
  };
}
