/**
 * A fleet of real agents against one control plane: how many heartbeats it takes, how long a task needs from the
 * queue to its recorded outcome, what an agent weighs, and whether operators' requests stay quick meanwhile.
 */
import { readFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { startSimulatedFleet } from '@gpuaas/lab/simulated-fleet';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { hostsFolder, startPlatform } from '@gpuaas/lab/up/platform';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { freePort } from '../harness/processes/free-port.ts';
import { setup } from '../setup/global-setup.ts';

const AGENTS = Number(process.env['BENCH_AGENTS'] ?? 500);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
/** The load of an operator who checks the whole fleet within half a minute. */
const TASKS_EACH_SECOND = Number(process.env['BENCH_TASKS'] ?? 16);
const REQUESTS_EACH_SECOND = 10;
const SETTLE_MS = 20_000;

const stops: (() => Promise<unknown> | void)[] = [await setup()];
try {
  await run();
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function run(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-fleet-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const database = await createTestDatabase();
  stops.push(() => database.drop());
  const log = createLogger('bench');
  log.level = 'error';
  const config = readConfig([], {
    GPUAAS_PORT: String(await freePort()),
    GPUAAS_NODE_PORT: String(await freePort()),
    GPUAAS_DATA_DIR: dataDir,
    GPUAAS_SIM_NODES: String(AGENTS),
    GPUAAS_SIM_PROCESSES: 'one',
  });
  const platform = await startPlatform(
    {
      ...config,
      databaseUrl: database.url,
      consoleDir: null,
      runWorker: true,
      readiness: new Readiness(),
      log,
    },
    (stop) => stops.push(stop),
  );
  const operator = platform.people.find(({ key }) => key === 'operator')!;
  const client = createGpuaasClient({ baseUrl: config.publicUrl, apiKey: operator.apiKey });
  console.log(`${AGENTS} agents in one process, control plane and database beside it`);

  let began = performance.now();
  const fleet = await startSimulatedFleet({
    count: AGENTS,
    serverUrl: platform.nodeUrl,
    stateDir: hostsFolder(dataDir),
    speed: 0,
    client,
    region: 'uae-north-1',
    log,
    oneProcess: true,
  });
  stops.push(() => fleet.stop());
  console.log(`enrolled in ${seconds(began)} s, load ${load()}`);

  // Five hundred handshakes and first heartbeats are a start, not a working day.
  await pause(SETTLE_MS);

  const { db } = platform.services;
  const nodeIds = (await db.selectFrom('nodes').select('id').execute()).map(({ id }) => id);
  const beatsBefore = await heartbeats(config.publicUrl);
  const taskIds: string[] = [];
  const asked: number[] = [];
  const refused: string[] = [];
  const agentsPid = fleet.nodes[0]!.pid()!;
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  const serverPid = (await statOf(rows[0]!.pid)).parent;
  const usage = async () => ({
    own: ownCpuSeconds(),
    agents: (await statOf(agentsPid)).cpuSeconds,
    database: await cpuSecondsBelow(serverPid),
  });
  const before = await usage();
  began = performance.now();
  await Promise.all([
    paced(TASKS_EACH_SECOND, async (turn) => {
      const node_id = nodeIds[(turn * 7) % nodeIds.length]!;
      const params = { path: { node_id } };
      const task = await unwrap(client.POST('/api/v1/admin/nodes/{node_id}/readiness', { params }));
      taskIds.push(task.id);
    }),
    paced(REQUESTS_EACH_SECOND, async () => {
      const start = performance.now();
      const answer = await client.GET('/api/v1/admin/nodes', { params: { query: { limit: 50 } } });
      if (answer.response.ok) asked.push(performance.now() - start);
      else refused.push(String(answer.response.status));
    }),
  ]);
  const elapsed = (performance.now() - began) / 1000;
  const beats = (await heartbeats(config.publicUrl)) - beatsBefore;
  const memory = await residentBytes(agentsPid);
  const after = await usage();
  const cores = (of: keyof typeof after): string => ((after[of] - before[of]) / elapsed).toFixed(2);
  const silent = (await unwrap(client.GET('/api/v1/admin/nodes', { params: { query: { limit: 200 } } })))
    .items;
  const unreachable = silent.filter(({ connection }) => connection !== 'connected').length;
  await pause(5_000);
  const tasks = await db
    .selectFrom('node_tasks')
    .select(['state', 'created_at', 'finished_at'])
    .where('id', 'in', taskIds)
    .execute();
  const done = tasks.filter(({ state }) => state === 'succeeded');
  const trips = done.map((task) => task.finished_at!.getTime() - task.created_at.getTime());

  console.log(`over ${elapsed.toFixed(0)} s, load ${load()}:`);
  console.log(`  heartbeats        ${(beats / elapsed).toFixed(0)}/s (each agent beats every 5 s)`);
  console.log(
    `  tasks             ${(done.length / elapsed).toFixed(1)}/s, ${done.length} of ${tasks.length} done`,
  );
  console.log(`  task round trip   p50 ${at(trips, 0.5)} ms, p99 ${at(trips, 0.99)} ms`);
  console.log(
    `  memory per agent  ${(memory / AGENTS / 1024 ** 2).toFixed(2)} MiB (${(memory / 1024 ** 2).toFixed(0)} MiB in all)`,
  );
  console.log(
    `  API, list of 50   p50 ${at(asked, 0.5)} ms, p99 ${at(asked, 0.99)} ms, ${refused.length} refused`,
  );
  console.log(
    `  processors        control plane ${cores('own')}, database ${cores('database')}, agents ${cores('agents')}`,
  );
  console.log(`  unreachable       ${unreachable} of the first ${silent.length}`);
  if (done.length < tasks.length || unreachable > 0) process.exitCode = 1;
}

/** Begins so many each second whether the ones before have ended or not, as independent people would. */
async function paced(eachSecond: number, act: (turn: number) => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  const turns = SECONDS * eachSecond;
  const start = performance.now();
  for (let turn = 0; turn < turns; turn += 1) {
    await pause(Math.max(0, start + (turn * 1000) / eachSecond - performance.now()));
    running.push(act(turn));
  }
  await Promise.all(running);
}

async function heartbeats(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const counts = text
    .split('\n')
    .filter(
      (line) => line.startsWith('gpuaas_http_request_duration_seconds_count') && /heartbeat/i.test(line),
    )
    .map((line) => Number(line.split(' ').at(-1)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) * 1024;
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Of another process; the kernel counts in hundredths. */
async function statOf(pid: number | string): Promise<{ parent: number; cpuSeconds: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return { parent: Number(fields[1]), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 };
}

async function cpuSecondsBelow(parent: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end during the scan.
  const stats = await Promise.all(pids.map((pid) => statOf(pid).catch(() => null)));
  return stats.reduce((sum, stat) => sum + (stat?.parent === parent ? stat.cpuSeconds : 0), 0);
}

function at(values: number[], part: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN).toFixed(0);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

function load(): string {
  return loadavg()[0]!.toFixed(1);
}
