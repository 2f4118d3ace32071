import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sixSteps, sixStepTables, sixStepWorkflow } from './six-steps.workflow.ts';
import { killWorker, spawnWorkerProcess, type WorkerProcess } from './worker-process.ts';
import { openWorkflowDatabase, type WorkflowTestDatabase } from './workflow-database.ts';

const TIMINGS = { heartbeatMs: 200, deadAfterMs: 2000 };
const effects = sixSteps.filter((name) => name !== 'settle');

/**
 * One workflow per point, two workers that run one workflow each at a time, each killed at the point of the
 * workflow it runs and replaced, until all have ended.
 */
export async function verifyCrashPoints(points: readonly string[], timeoutMs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-crash-'));
  const marker = join(folder, 'crashed');
  const database = await openWorkflowDatabase();
  const crashAt = points.map((point) => `${workflowIdOf(point)}/${point}`).join(',');
  const workers = keepWorkers(2, database.url, { GPUAAS_CRASH_AT: crashAt, GPUAAS_CRASH_MARKER: marker });
  try {
    await database.pool.query(sixStepTables);
    for (const point of points)
      await database.start(sixStepWorkflow.name, workflowIdOf(point), { sleepSeconds: 0.4 });
    for (const point of points) await database.waitFor(workflowIdOf(point), 'SUCCESS', timeoutMs);
    const crashed = (await readFile(marker, 'utf8')).trim().split('\n');
    expect(crashed.toSorted()).toEqual(crashAt.split(',').toSorted());
    expect(workers.killed()).toBe(points.length);
    for (const point of points) await expectOneOfEach(database, point);
  } finally {
    await workers.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

function workflowIdOf(point: string): string {
  return `six-${point.replace(':', '-')}`;
}

async function expectOneOfEach(database: WorkflowTestDatabase, point: string): Promise<void> {
  const workflowId = workflowIdOf(point);
  const { rows } = await database.pool.query<{ step: string; pid: number }>(
    'select step, pid from step_executions where workflow_id = $1 order by id',
    [workflowId],
  );
  const firsts = effects.map((name) => rows.findIndex((row) => row.step === name));
  expect(firsts, `${point}: every step ran, in order`).toEqual(firsts.toSorted((a, b) => a - b));
  expect(firsts).not.toContain(-1);
  const [killedStep, place] = point.split(':');
  for (const name of effects) {
    const executions = rows.filter((row) => row.step === name).length;
    // Only the step that died between its effect and its checkpoint runs again.
    const wanted = name === killedStep && place === 'after' ? 2 : 1;
    expect(executions, `${point}: executions of ${name}`).toBe(wanted);
  }
  const { rows: keyed } = await database.pool.query<{ count: number }>(
    'select count(*)::int as count from external_effects where idempotency_key like $1',
    [`${workflowId}:%`],
  );
  expect(keyed[0]?.count, `${point}: effects`).toBe(effects.length);
}

/** Replaces each worker that dies. */
function keepWorkers(count: number, url: string, env: Record<string, string>) {
  const running = new Set<WorkerProcess>();
  let stopping = false;
  let killed = 0;
  const spawnOne = (): void => {
    const worker = spawnWorkerProcess(url, { timings: TIMINGS, concurrency: 1, env });
    running.add(worker);
    void worker.exited.then(() => {
      running.delete(worker);
      if (stopping) return;
      if (worker.child.signalCode === 'SIGKILL') killed += 1;
      spawnOne();
    });
  };
  for (let index = 0; index < count; index += 1) spawnOne();
  return {
    killed: () => killed,
    async stop() {
      stopping = true;
      await Promise.all([...running].map(killWorker));
    },
  };
}
