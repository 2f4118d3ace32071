import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Listener } from '../db/listener.ts';
import { NonRetryableError, noRetry, step, type RetryPolicy, type WorkflowDefinition } from './definition.ts';
import { startWorkflowEngine, type FailedWorkflow, type WorkflowEngine } from './engine.ts';
import { STARTS_CHANNEL } from './queue-names.ts';
import { overdueWorkflows } from './overdue-workflows.ts';
import { openWorkflowDatabase, type WorkflowTestDatabase } from './testing/workflow-database.ts';

const quick: RetryPolicy = { maxAttempts: 4, firstDelaySeconds: 0.02, backoffRate: 1 };
type Effect = (attempt: number) => Promise<void>;
const effects = new Map<string, { effect: Effect; retry: RetryPolicy; attempts: number }>();

const tryIt: WorkflowDefinition<object, { id: string }> = {
  name: 'test.try',
  deadlineSeconds: 30,
  steps: ['try'],
  async run(_services, { id }) {
    const script = effects.get(id)!;
    await step(
      'try',
      async () => {
        script.attempts += 1;
        await script.effect(script.attempts);
      },
      script.retry,
    );
  },
};

let database: WorkflowTestDatabase;
let listener: Listener;
let engine: WorkflowEngine;
const failed: FailedWorkflow[] = [];

beforeAll(async () => {
  database = await openWorkflowDatabase();
  listener = new Listener(database.url, [STARTS_CHANNEL]);
  await listener.start();
  const { log, ...rest } = database;
  engine = await startWorkflowEngine({
    database: rest,
    listener,
    services: {},
    definitions: [tryIt] as WorkflowDefinition<object, never>[],
    log,
    onWorkflowFailed: async (failure) => void failed.push(failure),
  });
});
afterAll(async () => {
  await engine?.stop();
  await listener?.close();
  await database?.drop();
});

async function attemptsOf(id: string, retry: RetryPolicy, status: string, effect: Effect): Promise<number> {
  effects.set(id, { effect, retry, attempts: 0 });
  await database.start(tryIt.name, id, { id });
  await database.waitFor(id, status);
  return effects.get(id)!.attempts;
}

it('retries by its policy and continues when the effect succeeds', async () => {
  const effect: Effect = async (attempt) => {
    if (attempt < 3) throw new Error('not yet');
  };
  expect(await attemptsOf('third-time', quick, 'SUCCESS', effect)).toBe(3);
});

it('gives up when the attempts are used up, and says so', async () => {
  expect(await attemptsOf('hopeless', quick, 'ERROR', () => Promise.reject(new Error('never')))).toBe(4);
  expect(failed.map((failure) => failure.workflowId)).toContain('hopeless');
});

it('does not repeat what cannot succeed', async () => {
  const effect: Effect = () => Promise.reject(new NonRetryableError('the image does not exist'));
  expect(await attemptsOf('refused', quick, 'ERROR', effect)).toBe(1);
});

it('tries once what must not be tried twice', async () => {
  expect(await attemptsOf('single', noRetry, 'ERROR', () => Promise.reject(new Error('no')))).toBe(1);
});

it('abandons an attempt that hangs', async () => {
  const effect: Effect = (attempt) =>
    attempt === 1 ? pause(60_000, undefined, { ref: false }) : Promise.resolve();
  const impatient = { ...quick, attemptTimeoutSeconds: 0.2 };
  expect(await attemptsOf('hung', impatient, 'SUCCESS', effect)).toBe(2);
});

it('finds what is past its deadline, not dispatched or unknown to every worker', async () => {
  const now = Date.now();
  effects.set('slow', {
    effect: () => pause(60_000, undefined, { ref: false }),
    retry: noRetry,
    attempts: 0,
  });
  await database.start(tryIt.name, 'slow', { id: 'slow' });
  await database.waitFor('slow', 'PENDING');
  await database.start('test.nobody_knows', 'unknown', {});
  const overdueAt = (seconds: number) =>
    overdueWorkflows(database.db, [{ name: tryIt.name, deadlineSeconds: 30 }], {
      now: new Date(now + seconds * 1000),
      undeclaredSeconds: 5,
      limit: 10,
    });
  expect(await overdueAt(0)).toEqual([]);
  await expect.poll(async () => (await overdueAt(20)).map((w) => w.workflowId)).toEqual(['unknown']);
  const found = await overdueAt(60);
  expect(found.map((w) => w.workflowId).toSorted()).toEqual(['slow', 'unknown']);
  expect(found.find((w) => w.workflowId === 'slow')).toMatchObject({
    status: 'PENDING',
    deadlineSeconds: 30,
  });
  await database.client.cancel(database.db, 'slow');
});
