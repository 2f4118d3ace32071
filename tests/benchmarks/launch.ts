/**
 * Launches on an embedded Postgres with its durable settings: how many the API accepts, and how many go all
 * the way from the request to a running machine and back with hosts that take no time (`GPUAAS_SIM_SPEED=0`).
 * Reports where the processor time goes, because the next improvement has to start there. `npm run
 * bench:launch`.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { postTransaction } from '@gpuaas/control-plane/domains/billing/ledger/post-transaction';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { migrateWorkflows } from '@gpuaas/control-plane/platform/workflows/migrate-workflows';
import { approveImages } from '../harness/approve-images.ts';
import { launchBody } from '../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost } from '../harness/fleet/fleet-rows.ts';
import { launchAndRelease } from '../harness/allocations/launch-and-release.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { processorSeconds, processorSecondsOf } from './processor-seconds.ts';
import { recordStatements } from './record-statements.ts';
import type { LoadRequest, LoadResult } from './load.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
/** Enough for all that are accepted: none is released. */
const HOSTS = Number(process.env['BENCH_HOSTS'] ?? 4000);
/** More concurrent requests share a batch. */
const CONNECTIONS = [32, 64, 128];
const ROUND_TRIPS = Number(process.env['BENCH_LAUNCHES'] ?? 200);
const IN_FLIGHT = 8;
const TARGET = 1500;

console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`);
const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-launch-'));
const server = await startEmbeddedPostgres({ dataDir });
try {
  await accept(await database('accept'));
  if (ROUND_TRIPS > 0) await goAllTheWay(await database('whole'));
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function database(name: string): Promise<string> {
  await runAsAdmin(server.url, `create database ${name}`);
  await migrate(server.urlFor(name));
  await migrateWorkflows(server.urlFor(name));
  await approveImages(server.urlFor(name));
  return server.urlFor(name);
}

/** The request alone: rights, price, quota, money, placement, claims, events, workflow start and audit, committed. */
async function accept(databaseUrl: string): Promise<void> {
  // Logged as in production, to a discarding stream.
  const log = createLogger('bench', { write: () => undefined });
  const api = await createTestApi({ databaseUrl, log, asInProduction: true });
  const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)));
  try {
    const { db } = api.services;
    await sql`update sku_catalog set enabled = true`.execute(db);
    for (let host = 0; host < HOSTS; host += 1) await addHost(db);
    const { rows } = await sql<{
      folder: string;
    }>`select current_setting('data_directory') as folder`.execute(db);
    const { folder } = rows[0]!;
    const url = `${await api.server.listen({ host: '127.0.0.1', port: 0 })}/api/v1/allocations`;
    const member = api.people['member']!;
    await payInAdvance(api, member.organizationId!);
    const request: LoadRequest = {
      url,
      method: 'POST',
      body: JSON.stringify(launchBody(member.projectId!, 1)),
      headers: { authorization: `Bearer ${member.apiKey}`, 'content-type': 'application/json' },
      idempotencyKeys: true,
      expects: 202,
    };
    // The planner must not learn from empty tables.
    await run(load, request, { seconds: 1, connections: CONNECTIONS[0]! });
    const statements = await recordStatements(() =>
      fetch(url, {
        method: 'POST',
        body: request.body!,
        headers: { ...request.headers, 'x-idempotency-key': randomUUID() },
      }),
    );
    for (const connections of CONNECTIONS) {
      // As their workflows would have made them by now: pending launches count against the funds of each
      // launch.
      await sql`update allocations set state = 'active', active_at = now() where state = 'reserved'`.execute(
        db,
      );
      await sql`vacuum analyze`.execute(db);
      const before = { own: process.cpuUsage(), postgres: processorSeconds(folder) };
      const began = performance.now();
      const { perSecond, p50, p99 } = await run(load, request, { seconds: SECONDS, connections });
      const launches = (perSecond * (performance.now() - began)) / 1000;
      const own = process.cpuUsage(before.own);
      const postgres = processorSeconds(folder) - before.postgres;
      const each = (seconds: number): string => `${((seconds * 1000) / launches).toFixed(2)} ms`;
      console.log(
        `accepted: ${perSecond.toFixed(0)}/s with ${connections} connections (target ${TARGET}), p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, load ${loadavg()[0]!.toFixed(1)}; ` +
          `processor time of a launch: ${each((own.user + own.system) / 1e6)} API, ${each(postgres)} Postgres`,
      );
    }
    console.log(`  ${statements.length} statements for a group`);
    for (const [text, times] of counted(statements.map(({ text }) => text)))
      console.log(`    ${times} × ${text}`);
  } finally {
    load.kill();
    await api.stop();
  }
}

/**
 * Machines are never created here, so accepted launches stay pending until the end, and the balance must
 * cover all of them.
 */
async function payInAdvance({ services }: TestApi, organizationId: string): Promise<void> {
  const micros = 10n ** 15n;
  await services.db.transaction().execute((tx) =>
    postTransaction(tx, {
      organizationId,
      kind: 'credit',
      currency: 'USD',
      gains: { tenant_balance: micros, credits: -micros },
      postingKey: 'bench',
      reason: 'Launches of the benchmark',
      actorUserId: null,
      correlationId: newId(),
    }),
  );
}

function counted(texts: readonly string[]): [string, number][] {
  const short = texts.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 100));
  return [...Map.groupBy(short, (text) => text)].map(([text, all]) => [text, all.length]);
}

/** The request, the machine, the release and the wipe, with real workers and agents. */
async function goAllTheWay(databaseUrl: string): Promise<void> {
  const platform = await startTestPlatform({ nodes: 2, speed: 0, databaseUrl });
  try {
    const before = await usedBy(platform);
    const { seconds, stages } = await launchAndRelease(platform, { count: ROUND_TRIPS, inFlight: IN_FLIGHT });
    const after = await usedBy(platform);
    console.log(
      `launched and released: ${(ROUND_TRIPS / seconds).toFixed(1)}/s with ${IN_FLIGHT} in flight, load ${loadavg()[0]!.toFixed(1)}`,
    );
    const each = Object.entries(after).map(
      ([part, used]) => `${part} ${(((used - before[part]!) * 1000) / ROUND_TRIPS).toFixed(0)} ms`,
    );
    console.log(`  processor time of a round trip: ${each.join(', ')}`);
    const all = Object.values(stages).reduce((sum, ms) => sum + ms, 0);
    for (const [stage, ms] of Object.entries(stages).toSorted(([, a], [, b]) => b - a)) {
      console.log(
        `  ${stage.padEnd(34)} ${ms.toFixed(0).padStart(6)} ms  ${((100 * ms) / all).toFixed(0)} %`,
      );
    }
  } finally {
    await platform.stop();
  }
}

/** Processor seconds of each part so far. Guests run in the hypervisor of their host. */
async function usedBy({ services, fleet, dataDir: folder }: TestPlatform): Promise<Record<string, number>> {
  const { rows } = await sql<{ folder: string }>`select current_setting('data_directory') as folder`.execute(
    services.db,
  );
  const own = process.cpuUsage();
  const agents = fleet.nodes.flatMap((node) => node.pid() ?? []).map(processorSecondsOf);
  const hypervisors = fleet.nodes.map(({ hostname }) => hypervisorOf(join(folder, 'hosts', hostname)));
  return {
    'control plane': (own.user + own.system) / 1e6,
    Postgres: processorSeconds(rows[0]!.folder),
    agents: agents.reduce((sum, used) => sum + used.own, 0),
    guests: [...agents.map(({ ended }) => ended), ...hypervisors].reduce((sum, used) => sum + used, 0),
  };
}

/** While it runs; when it has ended, its agent counts it. */
function hypervisorOf(hostFolder: string): number {
  try {
    const { pid } = JSON.parse(readFileSync(join(hostFolder, 'hypervisor.json'), 'utf8')) as { pid: number };
    const { own, ended } = processorSecondsOf(pid);
    return own + ended;
  } catch {
    return 0;
  }
}

function run(
  load: ReturnType<typeof fork>,
  request: LoadRequest,
  { seconds, connections }: { seconds: number; connections: number },
): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    load.once('message', (result: LoadResult | { error: string }) =>
      'error' in result ? reject(new Error(result.error)) : resolve(result),
    );
    load.send({ request, seconds, connections, run: randomUUID() });
  });
}
