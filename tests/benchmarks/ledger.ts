/**
 * Postings and balance reads with many tenants and entries, beside the bare commit rate of the same PostgreSQL, and one
 * billing tick over many running leases. `npm run bench:ledger`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getBalances } from '@gpuaas/control-plane/domains/billing/ledger/get-balance';
import { meterAllLeases } from '@gpuaas/control-plane/domains/billing/metering/metering-tick';
import { postTransaction } from '@gpuaas/control-plane/domains/billing/ledger/post-transaction';
import { verifySnapshots, verifyUsage } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { systemClock } from '@gpuaas/control-plane/platform/clock';
import { openDatabase, type Db } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { sql } from 'kysely';

const CLIENTS = 16;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const TENANTS = Number(process.env['BENCH_TENANTS'] ?? 10_000);
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000);
const LEASES = Number(process.env['BENCH_LEASES'] ?? 50_000);

const figure = (value: number): string => Math.round(value).toLocaleString('en');

async function fill(db: Db): Promise<string[]> {
  await sql`insert into organizations (id, name)
    select gen_random_uuid(), 'tenant ' || n from generate_series(1, ${TENANTS}) n`.execute(db);
  await sql`insert into projects (id, organization_id, name)
    select gen_random_uuid(), id, 'default' from organizations`.execute(db);
  const perTurn = 20_000;
  for (let done = 0; done < ENTRIES / 2; done += perTurn) {
    await db.transaction().execute(async (tx) => {
      // Balanced by construction, and checked by the verifier below; the triggers alone would take an hour.
      await sql`alter table ledger_transactions disable trigger user`.execute(tx);
      await sql`alter table ledger_entries disable trigger user`.execute(tx);
      await sql`with numbered as (select id, row_number() over (order by id) - 1 as place from organizations),
        posted as (insert into ledger_transactions (id, organization_id, kind, currency, posting_key, reason, correlation_id)
          select gen_random_uuid(), o.id, 'credit', 'USD', 'fill:' || n, 'fill', gen_random_uuid()
          from generate_series(${done}::integer, ${done + perTurn - 1}::integer) n
            join numbered o on o.place = n % ${TENANTS}
          returning id, organization_id)
        insert into ledger_entries (id, transaction_id, organization_id, currency, account, amount_micros)
        select gen_random_uuid(), id, organization_id, 'USD', account, amount
        from posted, (values ('tenant_balance', 1000000), ('credits', -1000000)) as side (account, amount)`.execute(
        tx,
      );
      await sql`alter table ledger_transactions enable trigger user`.execute(tx);
      await sql`alter table ledger_entries enable trigger user`.execute(tx);
    });
  }
  await sql`insert into balance_snapshots (organization_id, currency, micros)
    select organization_id, currency, sum(amount_micros) from ledger_entries where account = 'tenant_balance'
    group by 1, 2`.execute(db);
  await sql`analyze`.execute(db);
  const { rows } = await sql<{ id: string }>`select id from organizations`.execute(db);
  return rows.map(({ id }) => id);
}

/** How often many clients get through the work in a second. */
async function rate(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const end = began + SECONDS * 1000;
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return done / ((performance.now() - began) / 1000);
}

async function startLeases(db: Db): Promise<void> {
  const [node, user] = [newId(), newId()];
  await sql`insert into nodes (id, hostname, region, pool, rack, node_family, last_heartbeat_at)
    values (${node}, 'bench', 'uae-north-1', 'p', 'r', 'f', now())`.execute(db);
  await sql`insert into users (id, issuer, subject, email, name)
    values (${user}, 'bench', 'bench', 'bench@gpuaas.test', 'bench')`.execute(db);
  await sql`insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image,
      image_digest, region, state, node_id, currency, per_gpu_hour_micros, price_id, created_by, correlation_id, created_at,
      active_at)
    select gen_random_uuid(), t.organization_id, t.project_id, 'bench', p.sku, 'gpu_slice', 1 + n % 8, i.image, i.digest,
      p.region, 'active', ${node}, 'USD', 2990000, p.id, ${user}, gen_random_uuid(), now() - interval '2 hours',
      now() - interval '61 minutes' - n % 1000 * interval '1 second'
    from generate_series(0, ${LEASES - 1}) n
      join (select organization_id, id as project_id, row_number() over (order by id) - 1 as place from projects) t
        on t.place = n % ${TENANTS},
      (select * from sku_prices limit 1) p, (select * from images limit 1) i`.execute(db);
  await sql`insert into allocation_meters (allocation_id, organization_id, project_id, sku, region, gpu_count, currency,
      per_hour_micros, started_at)
    select id, organization_id, project_id, sku, region, gpu_count, currency, per_gpu_hour_micros * gpu_count, active_at
    from allocations`.execute(db);
  await sql`analyze`.execute(db);
}

async function tick(db: Db): Promise<void> {
  await startLeases(db);
  const before = process.memoryUsage().rss;
  let most = before;
  const watching = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 100);
  const began = performance.now();
  const { records } = await meterAllLeases({ db, clock: systemClock, policies: fixedPolicies() });
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watching);
  const grown = (most - before) / 1_048_576;
  console.log(
    `billing tick: ${figure(records)} leases recorded and debited in ${seconds.toFixed(1)} s, memory +${grown.toFixed(0)} MiB at most`,
  );
  const faults = [...(await verifyUsage(db)).faults, ...(await verifySnapshots(db))];
  if (records !== LEASES || faults.length > 0)
    throw new Error(`the books do not hold: ${JSON.stringify(faults[0])}`);
}

const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-ledger-'));
const postgres = await startEmbeddedPostgres({ dataDir });
try {
  await migrate(postgres.url);
  const { db, close } = openDatabase(postgres.url, { max: CLIENTS + 2 });
  const tenants = await fill(db);
  const anyTenant = (): string => tenants[Math.floor(Math.random() * tenants.length)]!;
  console.log(
    `${figure(TENANTS)} tenants, ${figure(ENTRIES)} entries, ${CLIENTS} clients; load ${loadavg()[0]!.toFixed(1)}`,
  );
  await sql`create table bare (id uuid primary key)`.execute(db);
  const bare = await rate(() => sql`insert into bare values (${newId()})`.execute(db));
  const postings = await rate(() =>
    db.transaction().execute((tx) =>
      postTransaction(tx, {
        organizationId: anyTenant(),
        kind: 'credit',
        currency: 'USD',
        gains: { tenant_balance: 5n, credits: -5n },
        postingKey: newId(),
        reason: 'bench',
        actorUserId: null,
        correlationId: newId(),
      }),
    ),
  );
  const reads = await rate(() => db.transaction().execute((tx) => getBalances(tx, anyTenant())));
  console.log(`bare commits:  ${figure(bare)}/s`);
  console.log(
    `postings:      ${figure(postings)}/s (${((postings / bare) * 100).toFixed(0)} % of the bare commits)`,
  );
  console.log(`balance reads: ${figure(reads)}/s`);
  await tick(db);
  console.log(`load at the end ${loadavg()[0]!.toFixed(1)}`);
  await close();
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
