/**
 * Reservations on a fleet that is 60 % full, on an embedded Postgres with its durable settings: in batches,
 * individually, naively, and beside them the bare commit rate of the same server. `npm run bench:placement`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { BATCH_LIMITS } from '@gpuaas/control-plane/domains/allocations/launch/launch-batcher';
import { OrderReserver } from '@gpuaas/control-plane/domains/allocations/launch/order-reserver';
import type { LaunchOrder } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import { openDatabase, type Db } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { Batcher } from '@gpuaas/control-plane/platform/batcher';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { WorkflowClient } from '@gpuaas/control-plane/platform/workflows/workflow-client';
import { bareRows } from './placement/bare-rows.ts';
import { findDefects } from './placement/find-defects.ts';
import { runClients, type Rate, type Variant } from './placement/clients.ts';
import { newBuyers, randomOrder, seededRandom, seedFleet, type Buyer } from './placement/fleet.ts';
import { processorTime } from './placement/processor.ts';
import { prepareReleases, releaseTogether } from './placement/release.ts';
import { sellNaively } from './placement/sell.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const NODES = 2_000;
const SIZES = (process.env['BENCH_SIZES'] ?? '200,1000,2000,20000').split(',').map(Number);
/** As many tenants, each with a project and a user. */
const BUYERS = 64;
const PREFILL = 200;
const DECISIONS = 20_000;

const figure = (value: number): string => Math.round(value).toLocaleString('en');
const say = (what: string, { perSecond, p50, p99, unserved }: Rate, more = ''): void =>
  console.log(
    `${what.padEnd(40)} ${figure(perSecond).padStart(7)}/s  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  ${unserved} found no room${more}`,
  );

/** One row, one commit, by each of the clients: the ceiling for anything that commits alone. */
async function commitRate(db: Db, clients: number): Promise<Rate> {
  await sql`create table if not exists bare_commits (id bigint generated always as identity, payload text)`.execute(
    db,
  );
  const took: number[] = [];
  const began = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - began < SECONDS * 1000) {
      const start = performance.now();
      await sql`insert into bare_commits (payload) values ('x')`.execute(db);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  took.sort((a, b) => a - b);
  const at = (part: number): number => took[Math.floor((took.length - 1) * part)]!;
  return {
    served: took.length,
    perSecond: took.length / SECONDS,
    p50: at(0.5),
    p99: at(0.99),
    unserved: 0,
  };
}

async function bench(url: string, nodes: number, all: boolean): Promise<void> {
  await migrate(url);
  const database = openDatabase(url, { max: 66 });
  const { db } = database;
  const services = {
    db,
    // The quotas count and never refuse.
    policies: fixedPolicies({
      'quotas.project_spend_per_hour': 1e9,
      'quotas.user_spend_per_hour': 1e9,
      'quotas.project_gpus': 1e6,
      'quotas.user_gpus': 1e6,
      'quotas.project_allocations': 1e6,
      'quotas.user_allocations': 1e6,
    }),
    workflows: await WorkflowClient.connect(url, createLogger('bench')),
  };
  const reserver = new OrderReserver({ ...services, fleetIndex: new FleetIndex(services.policies) });
  const buyers = newBuyers(BUYERS);
  await prepareReleases(db);
  await seedFleet(db, nodes, buyers);
  const held: string[] = [];
  const random = seededRandom(42);
  const fill = async (): Promise<void> => {
    const orders = Array.from({ length: PREFILL }, () => randomOrder(random, buyers));
    const outcomes = await reserver.catchUpAndReserve(orders);
    for (const outcome of outcomes) if (outcome.kind === 'reserved') held.push(outcome.allocation.id);
  };
  // The planner must not learn from empty tables.
  await fill();
  await releaseTogether(db, held.splice(0, held.length / 2));
  await sql`vacuum analyze`.execute(db);
  while ((await shareSold(db)) < 0.6) await fill();
  // As their workflows would have made them by now: pending launches count against the funds of each launch.
  await sql`update allocations set state = 'active', active_at = now() where state = 'reserved'`.execute(db);
  await sql`vacuum analyze`.execute(db);
  console.log(
    `\n${figure(nodes)} nodes × 8 slots, ${((await shareSold(db)) * 100).toFixed(0)} % sold, load ${loadavg()[0]!.toFixed(1)}`,
  );

  // As the API does it, but without its limit on waiting: a launch refused there is decided individually.
  const selling = new Batcher((orders: LaunchOrder[]) => reserver.catchUpAndReserve(orders), BATCH_LIMITS);
  const releasing = new Batcher(
    async (ids: string[]) => {
      await releaseTogether(db, ids);
      return ids.map(() => undefined);
    },
    { batch: 'releases', size: 64, underWay: 1 },
  );
  const grouped = {
    sell: (order: LaunchOrder) => selling.submit(order),
    release: (id: string): Promise<void> => releasing.submit(id),
  };
  const alone = {
    sell: async (order: LaunchOrder) => (await reserver.catchUpAndReserve([order]))[0]!,
    release: (id: string) => releaseTogether(db, [id]),
  };
  const naive = { sell: (order: LaunchOrder) => sellNaively(services, order), release: alone.release };
  const run = async (
    what: string,
    clients: number,
    who: readonly Buyer[],
    variant: Variant,
    leases = held,
  ): Promise<void> => {
    const groups = selling.groups;
    const before = await processorTime(db);
    const rate = await runClients({ clients, seconds: SECONDS, buyers: who }, leases, variant);
    const after = await processorTime(db);
    const each = (part: 'here' | 'postgres'): string => figure((after[part] - before[part]) / rate.served);
    const together = selling.groups - groups;
    say(
      `${what}, ${clients} clients, ${who.length === 1 ? '1 project' : `${who.length} projects`}`,
      rate,
      `, ${each('here')} + ${each('postgres')} µs of processor` +
        (together > 0 ? `, ${(rate.served / together).toFixed(0)} a group` : ''),
    );
  };
  if (all) {
    say('bare commits, 16 clients', await commitRate(db, 16));
    say('bare commits, 64 clients', await commitRate(db, 64));
    const bare = await bareRows(db);
    const bareHeld: string[] = [];
    while (bareHeld.length < held.length) {
      const sold = await Promise.all(
        Array.from({ length: PREFILL }, () => bare.sell(randomOrder(random, buyers))),
      );
      for (const outcome of sold) if (outcome.kind === 'reserved') bareHeld.push(outcome.allocation.id);
    }
    await sql`vacuum analyze`.execute(db);
    await run('bare rows', 16, buyers, bare, bareHeld);
    await run('bare rows', 64, buyers, bare, bareHeld);
    await run('naive', 16, buyers, naive);
    await run('alone', 16, buyers.slice(0, 1), alone);
    await run('alone', 16, buyers, alone);
    await run('in groups', 16, buyers.slice(0, 1), grouped);
    await run('in groups', 64, buyers.slice(0, 1), grouped);
  }
  await run('in groups', 16, buyers, grouped);
  if (all) await run('in groups', 64, buyers, grouped);
  await measureIndex(db, services.policies, buyers);
  const defects = await findDefects(db);
  console.log(defects.length === 0 ? 'consistency: nothing disagrees' : `DEFECTS: ${defects.join('; ')}`);
  if (defects.length > 0) process.exitCode = 1;
  await services.workflows.close();
  await database.close();
}

async function shareSold(db: Db): Promise<number> {
  const { rows } = await sql<{ share: number }>`
    select avg((state <> 'available')::integer)::float as share from node_resource_slots`.execute(db);
  return rows[0]!.share;
}

/** Cost of the index: the first snapshot, a snapshot without changes, a decision. */
async function measureIndex(
  db: Db,
  policies: ReturnType<typeof fixedPolicies>,
  buyers: readonly Buyer[],
): Promise<void> {
  const fleet = new FleetIndex(policies);
  const timed = async (work: () => unknown): Promise<number> => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  await db.transaction().execute(async (tx) => {
    const first = await timed(() => fleet.catchUp(tx));
    const again = await timed(async () => {
      for (let look = 0; look < 100; look += 1) await fleet.catchUp(tx);
    });
    const random = seededRandom(7);
    const orders = Array.from({ length: DECISIONS }, () => randomOrder(random, buyers));
    const decide = (): void => {
      for (const { request, offer } of orders) {
        const { hold } = fleet.place(request, offer.allowedGpuCounts);
        if (hold) fleet.giveBack(hold);
      }
    };
    decide();
    // Of the processor, so that others on the machine do not count.
    const before = process.cpuUsage();
    decide();
    const { user, system } = process.cpuUsage(before);
    console.log(
      `index: first look ${figure(first)} ms, nothing new ${(again / 100).toFixed(2)} ms, ` +
        `decision (rank, hold, give back) ${((user + system) / DECISIONS).toFixed(1)} µs of processor`,
    );
  });
}

const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-placement-'));
const postgres = await startEmbeddedPostgres({ dataDir });
try {
  console.log(
    `${cpus().length} cores, ${SECONDS} s a turn; each sale is followed by a release; processor time is of client + server`,
  );
  for (const nodes of SIZES) {
    await runAsAdmin(postgres.url, `create database bench_${nodes}`);
    await bench(postgres.urlFor(`bench_${nodes}`), nodes, nodes === NODES);
  }
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
