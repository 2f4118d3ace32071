import { hostname } from 'node:os';
import { DBOS, DBOSWorkflowConflictError, Error as EngineError } from '@dbos-inc/dbos-sdk';
import type { Database, Tx } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dbosLogger } from './dbos-logger.ts';
import { type WorkflowDefinition, workflowRun } from './definition.ts';
import { ExecutorLease } from './executor-lease.ts';
import { APPLICATION, DEFAULT_QUEUE, FORMER_QUEUE } from './queue-names.ts';
import { repeat } from '../repeat.ts';
import { runStartDispatcher } from './start-dispatcher.ts';
import { type LostExecutor, sweepExecutors } from './sweeper.ts';
import { systemDatabaseUrl } from './system-database.ts';

export interface WorkflowEngine {
  executorId: string;
  stop(): Promise<void>;
}

export interface FailedWorkflow {
  workflowId: string;
  name: string;
  error: unknown;
}

/** How fast death is noticed. A workflow resumes at the latest after both and one poll of the queue. */
export interface LeaseTimings {
  heartbeatMs: number;
  deadAfterMs: number;
}

export interface WorkflowEngineOptions<Services> {
  database: Database;
  listener: Listener;
  services: Services;
  definitions: WorkflowDefinition<Services, never>[];
  log: Logger;
  /** Runs in the transaction that takes their workflows. */
  onExecutorsLost?: (tx: Tx, lost: LostExecutor[]) => Promise<void>;
  /** A workflow threw, and will not be retried. */
  onWorkflowFailed?: (failed: FailedWorkflow) => Promise<void>;
  timings?: LeaseTimings;
  /** Concurrent workflows of this process; most of them wait. */
  concurrency?: number;
}

/** Pinned: recovery filters by it, and workflows must outlive a deploy. */
const APPLICATION_VERSION = '1';
const TIMINGS: LeaseTimings = { heartbeatMs: 1000, deadAfterMs: 6000 };
const CONCURRENCY = 500;
const POLL_MS = 100;
/** Nothing new comes there. */
const FORMER_POLL_MS = 1000;
const STOP_GRACE_MS = 5000;

/** Runs workflows in this process. One engine per process; any number of processes per database. */
export async function startWorkflowEngine<Services>(
  options: WorkflowEngineOptions<Services>,
): Promise<WorkflowEngine> {
  const { database, listener, log, timings = TIMINGS } = options;
  // Unique per process: two live processes with one id would run the same steps twice.
  const executorId = `${hostname()}-${process.pid}-${newId()}`;
  const lease = new ExecutorLease(database.db, executorId, {
    host: hostname(),
    deadAfterMs: timings.deadAfterMs,
  });
  const queues = queuesOf(options.definitions);
  for (const definition of options.definitions) register(definition, lease, options);
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: systemDatabaseUrl(database.url),
    systemDatabasePoolSize: 10,
    applicationVersion: APPLICATION_VERSION,
    executorID: executorId,
    listenQueues: queues,
    logger: dbosLogger(log),
  });
  await lease.renew();
  await DBOS.launch();
  for (const queue of queues)
    await DBOS.registerQueue(queue, {
      workerConcurrency: options.concurrency ?? CONCURRENCY,
      minPollingIntervalMs: queue === FORMER_QUEUE ? FORMER_POLL_MS : POLL_MS,
      onConflict: 'always_update',
    });
  const heartbeat = repeat(timings.heartbeatMs, () => lease.renew(), complain(log, 'heartbeat failed'));
  const sweeper = repeat(timings.heartbeatMs, () => sweep(options, timings), complain(log, 'sweep failed'));
  const dispatcher = runStartDispatcher({ db: database.db, listener, log });
  return {
    executorId,
    async stop() {
      await dispatcher.stop();
      await sweeper.stop();
      const drained = await lease.drain(STOP_GRACE_MS);
      await DBOS.shutdown();
      await heartbeat.stop();
      // An effect still in flight must not run a second time elsewhere before this process has ended.
      if (drained) await lease.giveUp().catch(complain(log, 'the lease could not be given up'));
    },
  };
}

/** A process must take nothing it has no definition for: it would fail the workflow. */
function queuesOf(definitions: readonly { queue?: string }[]): string[] {
  const queues = new Set(definitions.map(({ queue = DEFAULT_QUEUE }) => queue));
  if (queues.has(DEFAULT_QUEUE)) queues.add(FORMER_QUEUE);
  return [...queues];
}

function register<Services>(
  definition: WorkflowDefinition<Services, never>,
  lease: ExecutorLease,
  { services, onWorkflowFailed, log }: WorkflowEngineOptions<Services>,
): void {
  const { name } = definition;
  const steps = new Set(definition.steps);
  const run = async (input: never): Promise<void> => {
    const epoch = await lease.begin();
    const correlationId = correlationOf(input);
    const about = { workflow: name, workflow_id: DBOS.workflowID, correlation_id: correlationId };
    // Also logged when another process takes it over: finished steps are not repeated.
    log.info(about, 'workflow runs');
    try {
      await workflowRun.run({ lease, epoch, correlationId, steps }, () => definition.run(services, input));
      log.info(about, 'workflow ended');
    } catch (error) {
      if (!lease.stopping && !isHandedOver(error)) {
        log.error({ ...about, err: error }, 'workflow failed');
        const failed = { workflowId: DBOS.workflowID ?? '', name, error };
        await onWorkflowFailed?.(failed).catch(complain(log, 'a failed workflow could not be reported'));
      }
      throw error;
    }
  };
  DBOS.registerWorkflow(run, { name });
}

/** Not a failure of the workflow: it was cancelled, or another process runs it now. */
function isHandedOver(error: unknown): boolean {
  return (
    error instanceof DBOSWorkflowConflictError || error instanceof EngineError.DBOSWorkflowCancelledError
  );
}

async function sweep<Services>(
  options: WorkflowEngineOptions<Services>,
  timings: LeaseTimings,
): Promise<void> {
  const onLost = options.onExecutorsLost ?? (async () => undefined);
  const { lost, resumedWorkflowIds } = await sweepExecutors(options.database.db, timings.deadAfterMs, onLost);
  if (lost.length === 0 && resumedWorkflowIds.length === 0) return;
  options.log.warn(
    {
      executor_ids: lost.map((executor) => executor.executorId),
      workflow_ids: resumedWorkflowIds.slice(0, 20),
      count: resumedWorkflowIds.length,
    },
    'resuming workflows of executors that are gone',
  );
}

function complain(log: Logger, what: string): (error: unknown) => void {
  return (error) => log.warn({ err: error }, what);
}

/** The id of the request that caused the workflow, if its input has one; else the workflow's own id. */
function correlationOf(input: { correlationId?: unknown } | null): string {
  return typeof input?.correlationId === 'string' ? input.correlationId : (DBOS.workflowID ?? 'none');
}
