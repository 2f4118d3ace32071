import { startSealer } from '../platform/audit/start-sealer.ts';
import { releaseLeases } from '../domains/allocations/release/release-leases.ts';
import {
  reportFailedWorkflow,
  reportFailingTick,
  reportLostWorkers,
} from '../domains/incidents/report-failures.ts';
import type { OverdueSource } from '../domains/incidents/watch-deadlines.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { collectBlobs } from '../platform/blobs/collect-blobs.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import { maintainPartitions } from '../platform/db/month-partitions.ts';
import { pruneExpired } from '../platform/db/prune-expired.ts';
import { createMetrics } from '../platform/telemetry/metrics.ts';
import { pruneRuns } from '../platform/ticks/prune-runs.ts';
import { startTickRunner } from '../platform/ticks/tick-runner.ts';
import { startWorkflowEngine, type WorkflowEngine } from '../platform/workflows/engine.ts';
import { overdueWorkflows } from '../platform/workflows/overdue-workflows.ts';
import { pruneExecutors } from '../platform/workflows/prune-executors.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainModules } from './domain-modules.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { startEventConsumers } from './event-consumers.ts';
import { addSharedReadinessChecks, busReadiness } from './readiness-parts.ts';
import { paymentProviderOf } from './payment-provider.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';
import { startAppObserver } from './app-runtime-worker.ts';
import { workerWorkflows, workflowDefinitions } from './workflow-definitions.ts';

/** Enough to show the fault; the rest is reported once these are resolved. */
const OVERDUE_LIMIT = 100;

function stuckWorkflows(services: PlatformServices): OverdueSource {
  const { db, policies } = services;
  return async (_, now) => {
    const declared = workflowDefinitions.map(({ name, deadlineSeconds }) => ({
      name,
      deadlineSeconds: Math.ceil(
        typeof deadlineSeconds === 'number' ? deadlineSeconds : deadlineSeconds(services),
      ),
    }));
    const found = await overdueWorkflows(db, declared, {
      now,
      undeclaredSeconds: policies.get('workflows.undeclared_deadline_seconds'),
      limit: OVERDUE_LIMIT,
    });
    return found.map(({ workflowId, name, status, since }) => ({
      targetType: 'workflow',
      targetId: workflowId,
      summary: `${name} has not ended since ${since.toISOString()}.`,
      detail: { name, status },
    }));
  };
}

/** Runs workflows and ticks. Any number of workers may share a database. */
export async function startWorker(
  base: PlatformServices,
  {
    paymentProvider = null,
    appRuntime = null,
  }: {
    paymentProvider?: PaymentProvider | null;
    /** Also does the work of an `app-runtime-worker`; calls of app instances go to this URL. */
    appRuntime?: { apiUrl: string } | null;
  } = {},
): Promise<WorkflowEngine> {
  const services = servicesAsRole(base, 'gpuaas_worker');
  const { database, db, listener, clock, log } = services;
  const engine = await startWorkflowEngine({
    database,
    listener,
    services,
    definitions: [...(appRuntime ? workflowDefinitions : workerWorkflows)],
    log,
    onExecutorsLost: (tx, lost) => reportLostWorkers(services, tx, lost),
    onWorkflowFailed: (failed) => reportFailedWorkflow(services, failed),
  });
  const observer = appRuntime ? startAppObserver(base, appRuntime.apiUrl) : null;
  const sealer = startSealer(services);
  const context = {
    paymentProvider,
    releaseLeases,
    overdue: [stuckWorkflows(services), ...domainModules.flatMap(({ overdue = [] }) => overdue)],
  };
  const ticks = startTickRunner<PlatformServices>({
    db,
    clock,
    services,
    ticks: [
      ...domainModules.flatMap((module) => module.ticks?.(context) ?? []),
      pruneRuns,
      pruneExecutors,
      collectBlobs,
      pruneExpired(domainModules.flatMap(({ retention = [] }) => retention)),
      maintainPartitions,
    ],
    runner: engine.executorId,
    log,
    onFailing: (failing) => reportFailingTick(services, failing),
  });
  return {
    executorId: engine.executorId,
    async stop() {
      await observer?.stop();
      await sealer.stop();
      await ticks.stop();
      await engine.stop();
    },
  };
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('worker', onStop);
    const { config, services, readiness, log } = role;
    const worker = await startWorker(services, { paymentProvider: paymentProviderOf(services, config) });
    onStop(() => worker.stop());
    const consumers = await startEventConsumers(services, config);
    onStop(() => consumers.stop());
    readiness.add(busReadiness(consumers.bus));
    addSharedReadinessChecks(readiness, services, { natsUrl: config.natsUrl, decide: false });
    await serveProbes(
      role,
      createMetrics(servicesAsRole(services, 'gpuaas_worker').database, log, domainGauges),
      onStop,
    );
    log.info({ executor_id: worker.executorId }, 'worker ready');
  });
}
