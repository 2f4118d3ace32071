import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { traced } from '../telemetry/tracing.ts';
import { crashPoint, failurePoint, shouldRunTwice } from './crash-point.ts';
import { type ExecutorLease, LeaseLostError } from './executor-lease.ts';

/** A durable function: it survives the death of its process and continues after its last finished step. */
export interface WorkflowDefinition<Services, Input> {
  name: string;
  /** Workers take only from the queues of the definitions they run; left out, `DEFAULT_QUEUE`. */
  queue?: string;
  /** Longer than any healthy run; past it an incident is opened. A function where policies decide how long that is. */
  deadlineSeconds: number | ((services: Services) => number);
  /**
   * Every step that `run` may take, by name. A step that is not listed here is refused, so tests can
   * enumerate them.
   */
  steps: readonly string[];
  run(services: Services, input: Input): Promise<void>;
}

/** How a step answers failures of its effect. */
export interface RetryPolicy {
  maxAttempts: number;
  firstDelaySeconds: number;
  backoffRate: number;
  /** Longest an attempt may take; its late result is discarded. */
  attemptTimeoutSeconds?: number;
}

/** Outlives a restart of the database: eight attempts over about a minute. */
export const patientRetry: RetryPolicy = { maxAttempts: 8, firstDelaySeconds: 0.5, backoffRate: 2 };
/** For effects that must not be retried automatically. */
export const noRetry: RetryPolicy = { maxAttempts: 1, firstDelaySeconds: 0, backoffRate: 1 };

/** Thrown by an effect that would fail the same way again: the step ends without a retry. */
export class NonRetryableError extends Error {
  override readonly name: string = 'NonRetryableError';
}

/** The run that a step belongs to; set by the engine. */
export const workflowRun = new AsyncLocalStorage<{
  lease: ExecutorLease;
  epoch: number;
  correlationId: string;
  steps: ReadonlySet<string>;
}>();

/**
 * A checkpointed step. It may run again if the process dies between its effect and its checkpoint, so its
 * effect must be idempotent.
 */
export async function step<T>(
  name: string,
  effect: () => Promise<T>,
  retry: RetryPolicy = patientRetry,
): Promise<T> {
  const { lease, epoch, correlationId, steps } = workflowRun.getStore() ?? outsideWorkflow();
  if (!steps.has(name)) throw new NonRetryableError(`the workflow does not declare the step ${name}`);
  const result = await lease.track(() =>
    DBOS.runStep(
      async () => {
        await lease.confirm(epoch);
        crashPoint(`${name}:before`);
        const act = (): Promise<T> => traced(`step ${name}`, { correlationId, attributes: aboutRun }, effect);
        if (shouldRunTwice(name)) await act();
        const value = await act();
        failurePoint(name);
        crashPoint(`${name}:after`);
        return value;
      },
      {
        name,
        retriesAllowed: retry.maxAttempts > 1,
        maxAttempts: retry.maxAttempts,
        intervalSeconds: retry.firstDelaySeconds,
        backoffRate: retry.backoffRate,
        shouldRetry: (error) => !(error instanceof NonRetryableError || error instanceof LeaseLostError),
        ...(retry.attemptTimeoutSeconds === undefined
          ? {}
          : { timeoutMS: retry.attemptTimeoutSeconds * 1000 }),
      },
    ),
  );
  crashPoint(`${name}:checkpointed`);
  return result;
}

function aboutRun(): { workflow_id: string } {
  return { workflow_id: DBOS.workflowID ?? 'none' };
}

/** Sleeps to an absolute time that survives the process. */
export async function sleep(name: string, seconds: number): Promise<void> {
  crashPoint(`${name}:before`);
  const middle = setTimeout(() => crashPoint(`${name}:after`), seconds * 500);
  try {
    await DBOS.sleep(seconds * 1000);
  } finally {
    clearTimeout(middle);
  }
  crashPoint(`${name}:checkpointed`);
}

/** Waits for a signal that another process sends in its own transaction; null when the deadline passes. */
export async function waitForSignal<T>(topic: string, timeoutSeconds: number): Promise<T | null> {
  return await DBOS.recv<T>(topic, { timeoutSeconds });
}

/** Short, because a release right after a launch meets a workflow that is about to end. */
const WORKFLOW_POLL_MS = 250;

/** Waits until another workflow has ended, in any way, or the time is over. It may still be a start row. */
export async function waitForWorkflow(
  workflowId: string,
  { timeoutSeconds }: { timeoutSeconds?: number } = {},
): Promise<void> {
  const limit = timeoutSeconds === undefined ? {} : { timeoutSeconds };
  await DBOS.getResult(workflowId, { pollingIntervalMs: WORKFLOW_POLL_MS, ...limit }).catch(() => undefined);
}

function outsideWorkflow(): never {
  throw new Error('a step belongs into a workflow');
}
