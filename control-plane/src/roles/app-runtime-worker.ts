import { keepPlatformDoors } from '../domains/apps/platform-door/keep-doors.ts';
import { startObserver } from '../domains/apps/runtime/observer.ts';
import { reportFailedWorkflow, reportLostWorkers } from '../domains/incidents/report-failures.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import type { RepeatHandle } from '../platform/repeat.ts';
import { createMetrics } from '../platform/telemetry/metrics.ts';
import { startWorkflowEngine } from '../platform/workflows/engine.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { addSharedReadinessChecks } from './readiness-parts.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';
import { appRuntimeWorkflows } from './workflow-definitions.ts';

/**
 * Looks at the members of app instances and opens the platform to those that may call it, under the role that may enter
 * guests. Their calls go to `apiUrl`.
 */
export function startAppObserver(base: PlatformServices, apiUrl: string): RepeatHandle {
  const services = servicesAsRole(base, 'gpuaas_app_runtime');
  const loops = [startObserver(services), keepPlatformDoors(services, apiUrl)];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Starts, observes and stops app instances in guests. Any number may share a database. */
if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('app-runtime-worker', onStop);
    const { config, services, readiness, log } = role;
    // The engine keeps its tables as a worker does; each workflow acts under the role of its queue.
    const engineServices = servicesAsRole(services, 'gpuaas_worker');
    const engine = await startWorkflowEngine({
      database: engineServices.database,
      listener: services.listener,
      services: engineServices,
      definitions: [...appRuntimeWorkflows],
      log,
      onExecutorsLost: (tx, lost) => reportLostWorkers(engineServices, tx, lost),
      onWorkflowFailed: (failed) => reportFailedWorkflow(engineServices, failed),
    });
    onStop(() => engine.stop());
    const observer = startAppObserver(services, config.publicUrl);
    onStop(() => observer.stop());
    addSharedReadinessChecks(readiness, services, { natsUrl: null, decide: false });
    await serveProbes(role, createMetrics(engineServices.database, log, domainGauges), onStop);
    log.info({ executor_id: engine.executorId }, 'app-runtime-worker ready');
  });
}
