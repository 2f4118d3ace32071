import type { Services } from '../platform/services.ts';
import { startWorkflowEngine, type WorkflowEngine } from '../platform/workflows/engine.ts';
import { provisionWorkflow } from '../domains/allocations/provision.workflow.ts';
import { releaseWorkflow } from '../domains/allocations/release.workflow.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { readConfig } from './config.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { openServices } from './open-services.ts';

/** Runs workflows. Any number of workers may share a database. */
export function startWorker(services: Services): Promise<WorkflowEngine> {
  return startWorkflowEngine({
    database: services.database,
    services,
    definitions: [provisionWorkflow, releaseWorkflow],
    log: services.log,
  });
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const config = readConfig();
    if (!config.databaseUrl) throw new Error('DATABASE_URL must name the database of the platform');
    const log = createLogger('worker');
    const { services, close } = await openServices({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log });
    onStop(close);
    const engine = await startWorker(services);
    onStop(() => engine.stop());
    log.info({ executor_id: engine.executorId }, 'worker ready');
  });
}
