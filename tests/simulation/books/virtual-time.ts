import type { PolicyValues } from '@gpuaas/contracts/generated/policies.ts';
import { meterAllLeases } from '@gpuaas/control-plane/domains/billing/metering/metering-tick';
import { postTransaction } from '@gpuaas/control-plane/domains/billing/ledger/post-transaction';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { topUpAllBalances } from '@gpuaas/control-plane/domains/payments/auto-top-up/top-up-balances';
import type { PaymentProvider } from '@gpuaas/control-plane/domains/payments/provider';
import { closeAllMonths } from '@gpuaas/control-plane/domains/statements/close-months';
import { leasesOnHosts } from '@gpuaas/control-plane/domains/allocations/leases-on-hosts';
import { recordHeartbeat } from '@gpuaas/control-plane/domains/fleet/health/record-heartbeat';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import type { Database, Db, Tx } from '@gpuaas/control-plane/platform/db/database';
import { servicesAsRole, inScope } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import type { Policies } from '@gpuaas/control-plane/platform/policy/policies';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { sql } from 'kysely';
import { SeededRandom } from '../../harness/seeded-random.ts';
import { recomputeBill, type Heard, type LeaseStory } from './recompute-bill.ts';
import { VirtualPayments } from './virtual-payments.ts';

const HOUR_MS = 3_600_000;
/**
 * Hosts report every day or so, or a virtual year would take a real one; silence is judged on the same scale.
 */
const LONGEST_STEP_MS = 40 * HOUR_MS;
const UNREACHABLE_SECONDS = 48 * 3600;
const BEGIN = new Date('2026-01-01T00:00:00.137Z');
/** Steps between two attempts to close months; about thirty days. */
const STEPS_A_MONTH = 36;
const STRIPE = { name: 'stripe' } as PaymentProvider;

interface Host {
  id: string;
  boot: string;
  silent: boolean;
  machines: Map<string, string>;
  heard: Heard[];
}

interface Lease extends LeaseStory {
  host: Host;
  tenant: string;
  over: boolean;
}

export interface Simulation {
  leases: number;
  payments: number;
  crashes: number;
  topUps: number;
  statements: number;
  /** Expected balance of each tenant, computed from the simulated events. */
  expected: Map<string, bigint>;
  /** Expected cost of each lease, to find the wrong one. */
  bills: Map<string, bigint>;
}

export interface SimulationOptions {
  seed: number;
  /** Twenty hours on average. */
  steps: number;
  hosts: number;
  tenants: number;
  /** Launches in a step, at most. */
  launches: number;
}

/** Runs tenants, hosts and ticks through virtual time with everything that may go wrong, then lets it all end. */
export async function simulate(database: Database, options: SimulationOptions): Promise<Simulation> {
  const world = await VirtualWorld.create(database, options);
  for (let step = 1; step <= options.steps; step++) {
    await world.step();
    if (step % STEPS_A_MONTH === 0) await world.closeMonths();
  }
  await world.end();
  return world.outcome();
}

class VirtualWorld {
  readonly #db: Db;
  readonly #worker: Db;
  readonly #random: SeededRandom;
  readonly #clock = manualClock(BEGIN);
  readonly #policies = slowPolicies();
  readonly #hosts: Host[] = [];
  readonly #tenants: { id: string; project: string; moved: bigint }[] = [];
  readonly #leases: Lease[] = [];
  readonly #launches: number;
  readonly #payments: VirtualPayments;
  #user = '';
  #price = 2_990_000n;
  #crashes = 0;
  #topUps = 0;
  #statements = 0;
  /** The ledger's own time is that of the machine. */
  readonly #begun = Date.now();

  private constructor(database: Database, { seed, launches }: SimulationOptions) {
    this.#launches = launches;
    this.#db = database.db;
    this.#worker = servicesAsRole({ db: database.db, database }, 'gpuaas_worker').db;
    this.#random = new SeededRandom(seed);
    this.#payments = new VirtualPayments(this.#worker, this.#services(), this.#random);
  }

  static async create(database: Database, options: SimulationOptions): Promise<VirtualWorld> {
    const { db } = database;
    const world = new VirtualWorld(database, options);
    world.#user = newId();
    await sql`insert into users (id, issuer, subject, email, name)
      values (${world.#user}, 'test', ${world.#user}, 'sim@gpuaas.test', 'sim')`.execute(db);
    for (let index = 0; index < options.tenants; index++) {
      const tenant = { id: newId(), project: newId(), moved: 0n };
      await sql`insert into organizations (id, name) values (${tenant.id}, ${`tenant ${index}`})`.execute(db);
      await sql`insert into projects (id, organization_id, name)
        values (${tenant.project}, ${tenant.id}, 'default')`.execute(db);
      world.#tenants.push(tenant);
      if (index % 2 === 0) await world.#keepMethod(tenant.id);
    }
    for (let index = 0; index < options.hosts; index++) {
      const host = { id: newId(), boot: newId(), silent: false, machines: new Map(), heard: [] };
      await sql`insert into nodes (id, hostname, region, pool, rack, node_family)
        values (${host.id}, ${`sim-${host.id}`}, 'uae-north-1', 'p', 'r', 'hgx-h200')`.execute(db);
      world.#hosts.push(host);
      await world.#hear(host);
    }
    return world;
  }

  async step(): Promise<void> {
    const random = this.#random;
    this.#clock.advance(random.between(HOUR_MS, LONGEST_STEP_MS));
    for (const host of this.#hosts) await this.#live(host);
    await this.#tick();
    if (random.chance(0.05)) this.#price = BigInt(random.between(1, 9_000_000));
    for (let count = random.between(1, this.#launches); count > 0; count--) await this.#launch();
    for (const lease of this.#leases.filter((candidate) => !candidate.over)) {
      if (random.chance(0.12)) await this.#release(lease);
    }
    if (random.chance(0.3)) await this.#movePeoplesMoney();
    if (random.chance(0.8)) await this.#pay();
    await this.#topUp();
    await this.#payments.tellSome();
    await this.#tick();
  }

  /** Two workers close finished months concurrently. */
  async closeMonths(): Promise<void> {
    const passed = () => new Date(this.#begun + this.#clock.now().getTime() - BEGIN.getTime());
    const log = createLogger('simulation');
    log.level = 'silent';
    const closing = { ...this.#services({ now: passed }), log };
    const closed = await Promise.all([closeAllMonths(closing), closeAllMonths(closing)]);
    this.#statements += closed[0] + closed[1];
  }

  /** Every host comes back, every lease ends, and everything is recorded. */
  async end(): Promise<void> {
    for (const lease of this.#leases.filter((candidate) => !candidate.over)) await this.#release(lease);
    for (let turn = 0; turn < 3; turn++) {
      this.#clock.advance(HOUR_MS);
      for (const host of this.#hosts) {
        host.silent = false;
        await this.#hear(host);
      }
      await this.#tick();
    }
    while ((await meterAllLeases(this.#services())).records > 0);
    await this.#payments.tellSome(true);
  }

  outcome(): Simulation {
    const expected = new Map(this.#tenants.map(({ id, moved }) => [id, moved]));
    const bills = new Map<string, bigint>();
    for (const lease of this.#leases) {
      const bill = recomputeBill(lease, lease.host.heard, UNREACHABLE_SECONDS * 1000);
      bills.set(lease.id, bill);
      expected.set(lease.tenant, expected.get(lease.tenant)! - bill);
    }
    return {
      leases: this.#leases.length,
      payments: this.#payments.count,
      crashes: this.#crashes + this.#payments.crashes,
      topUps: this.#topUps,
      statements: this.#statements,
      expected,
      bills,
    };
  }

  #services(clock: { now(): Date } = this.#clock): Services {
    return { db: this.#worker, clock, policies: this.#policies } as Services;
  }

  async #live(host: Host): Promise<void> {
    const random = this.#random;
    if (host.silent) {
      if (random.chance(0.6)) return;
      host.silent = false;
      if (random.chance(0.4)) {
        host.boot = newId();
        for (const id of host.machines.keys()) {
          if (random.chance(0.5)) host.machines.set(id, this.#clock.now().toISOString());
          else host.machines.delete(id);
        }
      }
    } else if (random.chance(0.05)) {
      host.silent = true;
      return;
    }
    for (const lease of this.#leases) {
      if (lease.host !== host || lease.over) continue;
      if (host.machines.has(lease.id) && random.chance(0.01)) host.machines.delete(lease.id);
      else if (!host.machines.has(lease.id) && random.chance(0.3))
        host.machines.set(lease.id, this.#clock.now().toISOString());
    }
    await this.#hear(host);
    await this.#takeAway(host);
  }

  async #hear(host: Host): Promise<void> {
    const now = this.#clock.now();
    const vms = [...host.machines].map(([allocation_id, started_at]) => ({
      allocation_id,
      started_at,
      state: 'running' as const,
    }));
    const heartbeat = { boot_id: host.boot, agent_version: '1', agent_time: 'unused', leases: [], vms };
    await inScope(this.#db, { role: 'gpuaas_node', nodeId: host.id }, (tx) =>
      recordHeartbeat({ ...this.#services(), leases: leasesOnHosts }, tx, host.id, heartbeat),
    );
    host.heard.push({ at: now.getTime(), boot: host.boot, machines: new Map(host.machines) });
  }

  /** Ends released leases on a host that has just reported. */
  async #takeAway(host: Host): Promise<void> {
    for (const lease of this.#leases) {
      if (lease.host === host && lease.over) host.machines.delete(lease.id);
    }
    await sql`update allocations set state = 'released', released_at = ${this.#clock.now()}
      where node_id = ${host.id} and desired_state = 'released' and state = 'active'`.execute(this.#db);
  }

  async #launch(): Promise<void> {
    const host = this.#random.pick(this.#hosts.filter((candidate) => !candidate.silent));
    if (!host) return;
    const tenant = this.#random.pick(this.#tenants);
    const gpus = this.#random.between(1, 8);
    this.#clock.advance(this.#random.between(1, 60_000));
    const id = newId();
    const at = this.#clock.now();
    await this.#inTransaction(async (tx) => {
      await sql`insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image,
          image_digest, region, state, node_id, currency, per_gpu_hour_micros, price_id, created_by, correlation_id,
          active_at)
        select ${id}::uuid, ${tenant.id}::uuid, ${tenant.project}::uuid, 'sim', p.sku, 'gpu_slice', ${gpus}::smallint,
          i.image, i.digest, p.region, 'active', ${host.id}::uuid, 'USD', ${this.#price}::bigint, p.id,
          ${this.#user}::uuid, ${newId()}::uuid, ${at}::timestamptz
        from sku_prices p, images i limit 1`.execute(tx);
      const row = await tx
        .selectFrom('allocations')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      await startMeter(tx, row);
    });
    host.machines.set(id, at.toISOString());
    const perHourMicros = this.#price * BigInt(gpus);
    const story = { id, perHourMicros, activeAt: at.getTime(), releasedAt: 0 };
    this.#leases.push({ ...story, host, tenant: tenant.id, over: false });
  }

  async #release(lease: Lease): Promise<void> {
    this.#clock.advance(this.#random.between(1, 60_000));
    lease.over = true;
    lease.releasedAt = this.#clock.now().getTime();
    await sql`update allocations set desired_state = 'released', release_requested_at = ${this.#clock.now()}
      where id = ${lease.id}`.execute(this.#db);
  }

  async #pay(): Promise<void> {
    const tenant = this.#random.pick(this.#tenants);
    tenant.moved += await this.#payments.live(tenant.id);
  }

  async #keepMethod(tenant: string): Promise<void> {
    const method = newId();
    await sql`insert into payment_methods (id, organization_id, provider, provider_ref, label, created_at)
      values (${method}, ${tenant}, 'stripe', ${`pm_${method}`}, 'Card', ${BEGIN})`.execute(this.#db);
    await sql`insert into auto_top_ups (organization_id, enabled, payment_method_id, currency, threshold_micros,
        amount_micros, monthly_cap_micros, updated_at)
      values (${tenant}, true, ${method}, 'USD', 100000000, 500000000, 5000000000, ${BEGIN})`.execute(
      this.#db,
    );
  }

  /** Several workers check for low balances; each top-up is started once. */
  async #topUp(): Promise<void> {
    const looks = await Promise.all([
      topUpAllBalances(this.#services(), STRIPE),
      topUpAllBalances(this.#services(), STRIPE),
    ]);
    for (const id of looks.flatMap(({ started }) => started)) {
      const payment = await this.#db
        .selectFrom('payments')
        .select(['organization_id', 'amount_micros'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const tenant = this.#tenants.find((one) => one.id === payment.organization_id)!;
      tenant.moved += this.#payments.charge(id, payment.amount_micros);
      this.#topUps += 1;
    }
  }

  /** Credits and corrections by people, some of them asked for twice. */
  async #movePeoplesMoney(): Promise<void> {
    const tenant = this.#random.pick(this.#tenants);
    const gives = this.#random.chance(0.7);
    const amount = BigInt(this.#random.between(1, 50_000_000)) * (gives ? 1n : -1n);
    const kind = gives ? 'credit' : 'adjustment';
    const posting = {
      organizationId: tenant.id,
      kind,
      currency: 'USD',
      gains: { tenant_balance: amount, [gives ? 'credits' : 'adjustments']: -amount },
      postingKey: newId(),
      reason: 'simulated',
      actorUserId: null,
      correlationId: newId(),
    } as const;
    const times = this.#random.between(1, 2);
    await Promise.all(
      Array.from({ length: times }, () => this.#inTransaction((tx) => postTransaction(tx, posting))),
    );
    tenant.moved += amount;
  }

  /** None, one, or several concurrent ticks; some die in the middle of their transaction. */
  async #tick(): Promise<void> {
    const runs = Array.from({ length: this.#random.between(0, 3) }, () => this.#random.chance(0.2));
    await Promise.all(
      runs.map(async (dies) => {
        if (!dies) return await meterAllLeases(this.#services());
        const dying = { now: () => this.#die() };
        return await meterAllLeases(this.#services(dying)).catch((error: unknown) => {
          if (!(error instanceof SimulatedCrash)) throw error;
        });
      }),
    );
  }

  #die(): never {
    this.#crashes += 1;
    throw new SimulatedCrash();
  }

  async #inTransaction(work: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      await work(tx);
    });
  }
}

class SimulatedCrash extends Error {}

/** The defaults, but for a silence longer than the registry would allow. */
function slowPolicies(): Policies {
  const policies = fixedPolicies({ 'billing.usage_window_seconds': 21_600 });
  const get: Policies['get'] = (key, scope) =>
    key === 'fleet.unreachable_after_seconds'
      ? (UNREACHABLE_SECONDS as PolicyValues[typeof key])
      : policies.get(key, scope);
  return { ...policies, get };
}
