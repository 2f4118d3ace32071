import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ExecutorLease, LeaseLostError } from './executor-lease.ts';
import { pruneExecutors } from './prune-executors.ts';
import { sweepExecutors } from './sweeper.ts';
import { sixStepTables, sixStepWorkflow } from './testing/six-steps.workflow.ts';
import { killWorker, spawnWorkerProcess, type WorkerProcess } from './testing/worker-process.ts';
import { openWorkflowDatabase, type WorkflowTestDatabase } from './testing/workflow-database.ts';

let database: WorkflowTestDatabase;
let workers: WorkerProcess[];
const quiet = async (): Promise<void> => undefined;

beforeEach(async () => {
  workers = [];
  database = await openWorkflowDatabase();
  await database.pool.query(sixStepTables);
});
afterEach(async () => {
  await Promise.all(workers.map(killWorker));
  await database.drop();
});

function spawn(options: Parameters<typeof spawnWorkerProcess>[1] = {}): WorkerProcess {
  const worker = spawnWorkerProcess(database.url, options);
  workers.push(worker);
  return worker;
}

async function executions(workflowId: string): Promise<{ step: string; pid: number }[]> {
  const text = 'select step, pid from step_executions where workflow_id = $1 order by id';
  return (await database.pool.query<{ step: string; pid: number }>(text, [workflowId])).rows;
}

/** Two workers, one of which is at a workflow that takes a while. */
async function startOnOneOfTwo(
  workflowId: string,
  options: Parameters<typeof spawn>[0] = {},
): Promise<{ busy: WorkerProcess; other: WorkerProcess }> {
  const pair = [spawn(options), spawn(options)];
  await Promise.all(pair.map((worker) => worker.ready));
  await database.start(sixStepWorkflow.name, workflowId, { sleepSeconds: 0.1, stepSeconds: 0.5 });
  await expect.poll(() => executions(workflowId)).not.toEqual([]);
  const pid = (await executions(workflowId))[0]?.pid;
  return { busy: pair.find((w) => w.child.pid === pid)!, other: pair.find((w) => w.child.pid !== pid)! };
}

function lease(executorId: string, deadAfterMs = 1000): ExecutorLease {
  return new ExecutorLease(database.db, executorId, { host: 'h', deadAfterMs });
}

async function pendingOn(executorId: string, ...workflowIds: string[]): Promise<void> {
  for (const id of workflowIds) {
    await database.pool.query(
      `insert into dbos.workflow_status (workflow_uuid, status, name, executor_id, owner_xid, queue_name,
         application_name, application_version, created_at, updated_at)
       values ($1, 'PENDING', 'test.none', $2, 'owner', 'allocations', 'gpuaas', '1', 0, 0)`,
      [id, executorId],
    );
  }
}

async function silence(executorId: string): Promise<void> {
  await database.pool.query(
    `update workflow_executors set heartbeat_at = now() - interval '1 minute' where executor_id = $1`,
    [executorId],
  );
}

describe('processes', () => {
  it('resumes the workflow of a killed worker within seconds, with the timings of production', async () => {
    const { busy, other } = await startOnOneOfTwo('orphan');
    await killWorker(busy);
    const killedAt = Date.now();
    await expect
      .poll(async () => (await executions('orphan')).at(-1)?.pid, { interval: 50 })
      .toBe(other.child.pid);
    expect(Date.now() - killedAt).toBeLessThan(30_000);
    await database.waitFor('orphan', 'SUCCESS');
  });

  it('fences a worker that slept: its workflows continue elsewhere only', async () => {
    const timings = { heartbeatMs: 200, deadAfterMs: 1500 };
    const sleeper = spawn({ timings });
    await sleeper.ready;
    await database.start(sixStepWorkflow.name, 'taken', { sleepSeconds: 0.1, stepSeconds: 0.5 });
    await expect.poll(() => executions('taken')).not.toEqual([]);
    sleeper.child.kill('SIGSTOP');
    const other = spawn({ timings });
    await other.ready;
    // If it fell asleep in a transaction of the engine, its locks last for a minute.
    await expect
      .poll(async () => (await executions('taken')).at(-1)?.pid, { timeout: 90_000 })
      .toBe(other.child.pid);
    sleeper.child.kill('SIGCONT');
    await database.waitFor('taken', 'SUCCESS');
    const pids = (await executions('taken')).map((row) => row.pid);
    const takenAt = pids.indexOf(other.child.pid!);
    expect(pids.slice(takenAt)).not.toContain(sleeper.child.pid);
    // Awake again, it serves the next workflow like any other.
    await killWorker(other);
    await database.start(sixStepWorkflow.name, 'next', { sleepSeconds: 0.1 });
    await database.waitFor('next', 'SUCCESS');
    expect((await executions('next'))[0]?.pid).toBe(sleeper.child.pid);
  }, 180_000);

  it('hands over immediately when a worker is stopped in order, and finishes the step in flight first', async () => {
    // Had it to wait until the other is taken for dead, it would take minutes.
    const timings = { heartbeatMs: 1000, deadAfterMs: 300_000 };
    const { busy, other } = await startOnOneOfTwo('handed', { timings });
    busy.child.kill('SIGTERM');
    await busy.exited;
    const stoppedAt = Date.now();
    await expect
      .poll(async () => (await executions('handed')).at(-1)?.pid, { interval: 50 })
      .toBe(other.child.pid);
    expect(Date.now() - stoppedAt).toBeLessThan(30_000);
    await database.waitFor('handed', 'SUCCESS');
    const steps = (await executions('handed')).map((row) => row.step);
    expect(steps).toEqual([...new Set(steps)]);
  });
});

describe('sweep', () => {
  it('takes each workflow of a dead executor once when many sweep at the same time', async () => {
    await lease('dead').renew();
    await lease('alive').renew();
    await silence('dead');
    await pendingOn('dead', 'a', 'b', 'c');
    await pendingOn('alive', 'kept');
    const sweeps = await Promise.all(
      Array.from({ length: 8 }, () => sweepExecutors(database.db, 6000, quiet)),
    );
    const again = await sweepExecutors(database.db, 6000, quiet);
    expect([...sweeps, again].flatMap((sweep) => sweep.resumedWorkflowIds).toSorted()).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect([...sweeps, again].flatMap((sweep) => sweep.lost.map((e) => e.executorId))).toEqual(['dead']);
    expect(await database.statusOf('a')).toBe('ENQUEUED');
    expect(await database.statusOf('kept')).toBe('PENDING');
  });

  it('is not kept from the others by one that froze in the middle of it', async () => {
    await lease('dead').renew();
    await silence('dead');
    await pendingOn('dead', 'a');
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
    const { promise: asleep, resolve: fallAsleep } = Promise.withResolvers<void>();
    const frozen = sweepExecutors(database.db, 6000, async () => {
      fallAsleep();
      await awake;
    });
    await asleep;
    expect((await sweepExecutors(database.db, 6000, quiet)).resumedWorkflowIds).toEqual([]);
    await expect
      .poll(async () => (await sweepExecutors(database.db, 6000, quiet)).resumedWorkflowIds)
      .toEqual(['a']);
    wake();
    await expect(frozen).rejects.toThrow();
  });

  it('puts the workflow back into its queue without an owner', async () => {
    await pendingOn('unheard-of', 'orphan');
    await sweepExecutors(database.db, 6000, quiet);
    const text = 'select status, owner_xid, queue_name from dbos.workflow_status';
    expect((await database.pool.query(text)).rows).toEqual([
      { status: 'ENQUEUED', owner_xid: null, queue_name: 'allocations' },
    ]);
  });

  it('does not take what another executor has claimed since', async () => {
    await lease('dead').renew();
    await lease('new').renew();
    await silence('dead');
    await pendingOn('dead', 'w');
    await sweepExecutors(database.db, 6000, quiet);
    await database.pool.query(`update dbos.workflow_status set status = 'PENDING', executor_id = 'new'`);
    expect((await sweepExecutors(database.db, 6000, quiet)).resumedWorkflowIds).toEqual([]);
  });

  it('ends the runs an executor started before it was lost, not later ones', async () => {
    const slept = lease('slept', 100);
    const before = await slept.begin();
    await slept.confirm(before);
    await silence('slept');
    await sweepExecutors(database.db, 6000, quiet);
    await pause(120);
    await expect(slept.confirm(before)).rejects.toThrow(LeaseLostError);
    const after = await slept.begin();
    await slept.confirm(after);
  });

  it('takes back what a lost executor claimed before its first heartbeat, and fences that run too', async () => {
    const slept = lease('slept', 100);
    await slept.renew();
    await silence('slept');
    await sweepExecutors(database.db, 6000, quiet);
    await pendingOn('slept', 'grabbed');
    expect((await sweepExecutors(database.db, 6000, quiet)).resumedWorkflowIds).toEqual(['grabbed']);
    const row = await database.db
      .selectFrom('workflow_executors')
      .select('lost_count')
      .executeTakeFirstOrThrow();
    expect(row.lost_count).toBe(2);
  });

  it('forgets executors that are long gone and hold nothing', async () => {
    for (const id of ['old', 'old-but-busy', 'alive']) await lease(id).renew();
    await silence('old');
    await silence('old-but-busy');
    await sweepExecutors(database.db, 6000, quiet);
    await pendingOn('old-but-busy', 'w');
    const inAMonth = new Date(Date.now() + 30 * 86_400_000);
    await pruneExecutors.run({ db: database.db }, { from: inAMonth, to: inAMonth });
    const rows = await database.db
      .selectFrom('workflow_executors')
      .select('executor_id')
      .orderBy('executor_id')
      .execute();
    expect(rows.map((row) => row.executor_id)).toEqual(['alive', 'old-but-busy']);
  });

  it('does not call an executor lost that said good-bye', async () => {
    const left = lease('left');
    await left.renew();
    await left.giveUp();
    await pendingOn('left', 'w');
    expect(await sweepExecutors(database.db, 6000, quiet)).toEqual({ lost: [], resumedWorkflowIds: ['w'] });
  });
});
