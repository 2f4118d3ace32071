import { retireMonths } from '../domains/audit/retire-months.ts';
import { verifyInTurns, watchSealLag } from '../domains/audit/watch-chain.ts';
import { startSealer } from '../platform/audit/run-sealer.ts';
import { overdueAllocations } from '../domains/allocations/state-deadlines.ts';
import { signRemaining } from '../domains/allocations/certificates/sign-remaining.ts';
import { runQueueRegularly } from '../domains/allocations/queue/wake-queue.ts';
import { forgetPromises } from '../domains/allocations/reservations/cancel-reservation.ts';
import { watchIdle } from '../domains/allocations/idle/watch-idle.ts';
import { warnOfEnds } from '../domains/allocations/warn-of-ends.ts';
import { convergeIngress } from '../domains/allocations/ingress/converge-ingress.ts';
import { endLeases } from '../domains/allocations/end-leases.ts';
import { meterLeases } from '../domains/billing/meter-leases.ts';
import { reconcileMeters } from '../domains/billing/reconcile-meters.ts';
import { watchBudgets } from '../domains/billing/budgets/watch-budgets.ts';
import { watchBalances } from '../domains/billing/watch-balances.ts';
import { topUpBalances } from '../domains/payments/auto-top-up/top-up-balances.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { fetchMissedEvents, reconcilePayments } from '../domains/payments/reconcile-payments.ts';
import { watchPayments } from '../domains/payments/watch-payments.ts';
import { sampleUtilisation } from '../domains/reports/sample-utilisation.ts';
import { closeMonths } from '../domains/statements/close-months.ts';
import { releaseLeases } from '../domains/allocations/release-leases.ts';
import { reconcileAllocations } from '../domains/allocations/reconcile/reconcile-allocations.ts';
import { retireUnusedAuthorities } from '../domains/fleet/retire-unused-authorities.ts';
import { reconcileNodes } from '../domains/fleet/reconcile-nodes.ts';
import { watchMaintenance } from '../domains/fleet/watch-maintenance.ts';
import {
  reportFailedWorkflow,
  reportFailingTick,
  reportLostWorkers,
} from '../domains/incidents/report-failures.ts';
import { watchDeadlines, type OverdueSource } from '../domains/incidents/watch-deadlines.ts';
import { pruneNotifications } from '../domains/notifications/prune-notifications.ts';
import { watchQuotas } from '../domains/quotas/watch-quotas.ts';
import { actingAs } from '../platform/db/scope.ts';
import { keepMonths } from '../platform/db/keep-months.ts';
import { pruneRecordings } from '../domains/terminal/recordings/prune-recordings.ts';
import { pruneExpired } from '../platform/db/prune-expired.ts';
import type { Services } from '../platform/services.ts';
import { createMetrics } from '../platform/telemetry/metrics.ts';
import { pruneRuns } from '../platform/ticks/prune-runs.ts';
import { startTickRunner } from '../platform/ticks/tick-runner.ts';
import { startWorkflowEngine, type WorkflowEngine } from '../platform/workflows/engine.ts';
import { overdueWorkflows } from '../platform/workflows/overdue-workflows.ts';
import { pruneExecutors } from '../platform/workflows/prune-executors.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { startEventConsumers } from './event-consumers.ts';
import { addSharedParts, busPart } from './readiness-parts.ts';
import { paymentProviderOf } from './payment-provider.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';
import { workflowDefinitions } from './workflow-definitions.ts';

/** Enough to see what is wrong; the rest follows when these are dealt with. */
const OVERDUE_LIMIT = 100;

const stuckWorkflows: OverdueSource = async (services, now) => {
  const { db, policies } = services;
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

const stuckAllocations: OverdueSource = async (services, now) => {
  const found = await overdueAllocations(services, now, OVERDUE_LIMIT);
  return found.map(({ allocationId, state, since }) => ({
    targetType: 'allocation',
    targetId: allocationId,
    summary: `The allocation has been ${state} since ${since.toISOString()}.`,
    detail: { state },
  }));
};

/** Runs workflows and ticks. Any number of workers may share a database. */
export async function startWorker(
  base: Services,
  { paymentProvider = null }: { paymentProvider?: PaymentProvider | null } = {},
): Promise<WorkflowEngine> {
  const services = actingAs(base, 'gpuaas_worker');
  const { database, db, listener, clock, log } = services;
  const engine = await startWorkflowEngine({
    database,
    listener,
    services,
    definitions: [...workflowDefinitions],
    log,
    onExecutorsLost: (tx, lost) => reportLostWorkers(services, tx, lost),
    onWorkflowFailed: (failed) => reportFailedWorkflow(services, failed),
  });
  const sealer = startSealer(services);
  const ticks = startTickRunner({
    db,
    clock,
    services,
    ticks: [
      watchDeadlines([stuckWorkflows, stuckAllocations]),
      watchMaintenance,
      endLeases,
      warnOfEnds,
      watchIdle,
      convergeIngress,
      forgetPromises,
      runQueueRegularly,
      reconcileAllocations,
      signRemaining,
      meterLeases,
      watchBalances(releaseLeases),
      watchBudgets(releaseLeases),
      reconcileMeters,
      ...(paymentProvider
        ? [
            reconcilePayments(paymentProvider),
            fetchMissedEvents(paymentProvider),
            topUpBalances(paymentProvider),
          ]
        : []),
      watchPayments,
      closeMonths,
      sampleUtilisation,
      reconcileNodes(),
      retireUnusedAuthorities,
      pruneRuns,
      pruneExecutors,
      pruneExpired,
      pruneNotifications,
      pruneRecordings,
      keepMonths,
      watchQuotas,
      watchSealLag,
      verifyInTurns,
      retireMonths,
    ],
    runner: engine.executorId,
    log,
    onFailing: (failing) => reportFailingTick(services, failing),
  });
  return {
    executorId: engine.executorId,
    async stop() {
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
    readiness.add(busPart(consumers.bus));
    addSharedParts(readiness, services, { natsUrl: config.natsUrl, decide: false });
    await serveProbes(role, createMetrics(actingAs(services, 'gpuaas_worker').database, log), onStop);
    log.info({ executor_id: worker.executorId }, 'worker ready');
  });
}
