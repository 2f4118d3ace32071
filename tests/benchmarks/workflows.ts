/**
 * Workflows of three steps, started through start rows as a launch does, on an embedded Postgres with its
 * durable settings. `npm run bench:workflows [count]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { Listener } from '@gpuaas/control-plane/platform/db/listener';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { step, type WorkflowDefinition } from '@gpuaas/control-plane/platform/workflows/definition';
import { startWorkflowEngine } from '@gpuaas/control-plane/platform/workflows/engine';
import { STARTS_CHANNEL } from '@gpuaas/control-plane/platform/workflows/queue-names';
import { WorkflowClient } from '@gpuaas/control-plane/platform/workflows/workflow-client';

const COUNT = Number(process.argv[2] ?? 1000);
const CLIENTS = 16;
const IDLE_STARTS = 20;
/** The benchmark ends within this time. */
const LIMIT_MS = 60_000;

interface Services {
  begun: Map<string, number>;
  ended: Map<string, number>;
}

const threeSteps: WorkflowDefinition<Services, { id: string }> = {
  name: 'bench.three_steps',
  deadlineSeconds: 60,
  steps: ['first', 'second', 'third'],
  async run({ begun, ended }, { id }) {
    await step('first', async () => void begun.set(id, performance.now()));
    await step('second', async () => 2);
    await step('third', async () => void ended.set(id, performance.now()));
  },
};

const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir });
try {
  await migrate(postgres.url);
  await withoutChatter(() => DBOS.migrate(postgres.url));
  await measure(postgres.url);
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(url: string): Promise<void> {
  const log = createLogger('bench');
  log.level = 'error';
  const database = openDatabase(url);
  const listener = new Listener(url, [STARTS_CHANNEL]);
  await listener.start();
  const client = await WorkflowClient.connect(url, log);
  const services: Services = { begun: new Map(), ended: new Map() };
  const start = (id: string): Promise<void> =>
    database.db.transaction().execute((tx) => client.start(tx, threeSteps, id, { id }));
  say(`load before ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores (${cpus()[0]?.model.trim()})`);

  const startedAt = performance.now();
  await inParallel(CLIENTS, COUNT, (index) => start(`bulk-${index}`));
  const acceptSeconds = (performance.now() - startedAt) / 1000;
  say(
    `accepted   ${rate(COUNT, acceptSeconds)} starts/s, one transaction each, ${CLIENTS} clients, no worker`,
  );

  const definitions = [threeSteps] as WorkflowDefinition<Services, never>[];
  const engine = await startWorkflowEngine({ database, listener, services, definitions, log });
  const ranAt = performance.now();
  const finished = await until(() => services.ended.size >= COUNT);
  const runSeconds = (performance.now() - ranAt) / 1000;
  const done = services.ended.size;
  say(
    `completed  ${rate(done, runSeconds)} workflows/s of three steps, one worker (${done} in ${runSeconds.toFixed(1)} s)`,
  );
  if (!finished) say(`           stopped at the limit of ${LIMIT_MS / 1000} s`);

  await pause(1000);
  const latencies: number[] = [];
  for (let index = 0; index < IDLE_STARTS; index += 1) {
    const begunAt = performance.now();
    await start(`idle-${index}`);
    await until(() => services.begun.has(`idle-${index}`));
    latencies.push(services.begun.get(`idle-${index}`)! - begunAt);
    await until(() => services.ended.has(`idle-${index}`));
  }
  latencies.sort((a, b) => a - b);
  const p50 = latencies[IDLE_STARTS >> 1]!.toFixed(0);
  say(
    `idle start ${p50} ms p50, ${latencies.at(-1)!.toFixed(0)} ms max, from begin of the transaction to the first step`,
  );
  say(`load after ${loadavg()[0]?.toFixed(1)}`);
  await engine.stop();
  await client.close();
  await listener.close();
  await database.close();
}

async function inParallel(
  clients: number,
  count: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function until(done: () => boolean): Promise<boolean> {
  const deadline = performance.now() + LIMIT_MS;
  while (!done()) {
    if (performance.now() > deadline) return false;
    await pause(2);
  }
  return true;
}

/** The engine's migrations print to stdout. */
async function withoutChatter(work: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  console.log = () => undefined;
  try {
    await work();
  } finally {
    console.log = log;
  }
}

function rate(count: number, seconds: number): string {
  return (count / seconds).toFixed(0).padStart(6);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
