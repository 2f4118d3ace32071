/**
 * Reservations on a fleet that is 60 % full, on an embedded Postgres with its durable settings: in groups, alone,
 * naively, and beside them how often the same server can commit at all. `npm run bench:placement`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/fleet-index';
import { openDatabase, type Db } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { WorkflowClient } from '@gpuaas/control-plane/platform/workflows/workflow-client';
import { findDefects } from './placement/check.ts';
import { runClients, type Rate } from './placement/clients.ts';
import { randomOrder, seededRandom, seedFleet } from './placement/fleet.ts';
import { GroupCommit } from './placement/group-commit.ts';
import { releaseTogether } from './placement/release.ts';
import { sellGroup, sellNaively } from './placement/sell.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const NODES = 2_000;
const SIZES = (process.env['BENCH_SIZES'] ?? '200,1000,2000,20000').split(',').map(Number);
const GROUP = 64;
const PREFILL = 200;
const DECISIONS = 20_000;

const figure = (value: number): string => Math.round(value).toLocaleString('en');
const say = (what: string, { perSecond, p50, p99, unserved }: Rate, more = ''): void =>
  console.log(
    `${what.padEnd(34)} ${figure(perSecond).padStart(7)}/s  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  ${unserved} found no room${more}`,
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
  return { perSecond: took.length / SECONDS, p50: at(0.5), p99: at(0.99), unserved: 0 };
}

async function bench(url: string, nodes: number, all: boolean): Promise<void> {
  await migrate(url);
  const database = openDatabase(url, { max: 66 });
  const { db } = database;
  const services = {
    // The quotas count and never refuse.
    policies: fixedPolicies({ 'quotas.project_spend_per_hour': 1e9, 'quotas.user_spend_per_hour': 1e9 }),
    workflows: await WorkflowClient.connect(url, createLogger('bench')),
  };
  await seedFleet(db, nodes);
  const held: string[] = [];
  const random = seededRandom(42);
  const fill = async (): Promise<void> => {
    const orders = Array.from({ length: PREFILL }, () => randomOrder(random));
    const outcomes = await sellGroup(services, db, orders);
    for (const outcome of outcomes)
      if (outcome !== 'contested' && 'sold' in outcome) held.push(outcome.sold.id);
  };
  // The planner must not learn from empty tables.
  await fill();
  await releaseTogether(db, held.splice(0, held.length / 2));
  await sql`vacuum analyze`.execute(db);
  while ((await shareSold(db)) < 0.6) await fill();
  await sql`vacuum analyze`.execute(db);
  console.log(
    `\n${figure(nodes)} nodes × 8 slots, ${((await shareSold(db)) * 100).toFixed(0)} % sold, load ${loadavg()[0]!.toFixed(1)}`,
  );

  const selling = new GroupCommit(
    (orders: ReturnType<typeof randomOrder>[]) => sellGroup(services, db, orders),
    GROUP,
  );
  const releasing = new GroupCommit(async (ids: string[]) => {
    await releaseTogether(db, ids);
    return ids.map(() => undefined);
  }, GROUP);
  const release = (id: string): Promise<void> => releasing.submit(id);
  const grouped = { sell: (order: ReturnType<typeof randomOrder>) => selling.submit(order), release };
  if (all) {
    const bare = await commitRate(db, 16);
    say('bare commits, 16 clients', bare);
    say('bare commits, 64 clients', await commitRate(db, 64));
    say(
      'naive, 16 clients',
      await runClients(16, SECONDS, held, {
        sell: (order) => sellNaively(services, db, order),
        release: (id) => releaseTogether(db, [id]),
      }),
    );
    say(
      'alone, 16 clients',
      await runClients(16, SECONDS, held, {
        sell: async (order) => (await sellGroup(services, db, [order]))[0]!,
        release: (id) => releaseTogether(db, [id]),
      }),
    );
  }
  for (const clients of all ? [16, 64] : [16]) {
    selling.groups = 0;
    const rate = await runClients(clients, SECONDS, held, grouped);
    say(
      `in groups, ${clients} clients`,
      rate,
      `, ${((rate.perSecond * SECONDS) / selling.groups).toFixed(0)} a group`,
    );
  }
  await measureIndex(db, services.policies);
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

/** What the memory costs: the first look, a look that finds nothing new, a decision. */
async function measureIndex(db: Db, policies: ReturnType<typeof fixedPolicies>): Promise<void> {
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
    const orders = Array.from({ length: DECISIONS }, () => randomOrder(random));
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
    `${cpus().length} cores, ${SECONDS} s a turn, groups of at most ${GROUP}; each sale is followed by a release`,
  );
  for (const nodes of SIZES) {
    await runAsAdmin(postgres.url, `create database bench_${nodes}`);
    await bench(postgres.urlFor(`bench_${nodes}`), nodes, nodes === NODES);
  }
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
