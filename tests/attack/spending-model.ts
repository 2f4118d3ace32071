import { inspect } from 'node:util';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { checkReservations } from '@gpuaas/control-plane/domains/allocations/reservations/lapse-reservations';
import { releaseLeases } from '@gpuaas/control-plane/domains/allocations/release/release-leases';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { costFor } from '@gpuaas/control-plane/domains/billing/funds/covers';
import { checkAllBalances } from '@gpuaas/control-plane/domains/billing/funds/watch-balances';
import { meterAllLeases } from '@gpuaas/control-plane/domains/billing/metering/metering-tick';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { launchBody, type Allocation } from '../harness/allocations/allocations.ts';
import { endLease } from '../harness/allocations/end-lease.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost } from '../harness/fleet/fleet-rows.ts';
import { SeededRandom } from '../harness/seeded-random.ts';
import { withBearer, type TestCaller } from '../harness/tenancy.ts';

const SKU = { sku: 'h200-sxm-slice', region: 'uae-north-1' };
/** How often the platform looks at balances here. */
const LOOK_SECONDS = 600;

interface Tenant {
  caller: TestCaller;
  organizationId: string;
  projectIds: string[];
  /** The platform gives grace only to tenants that paid. */
  paid: boolean;
  /** Highest rate since the money last covered it. */
  highestRate: bigint;
}

/** Money of a tenant as the rows say it, computed without the code under test. */
interface Position {
  balance: bigint;
  /** Balance and credit line, without what running leases have accrued. */
  available: bigint;
  /** By the hour, of everything that runs or starts. */
  rate: bigint;
  /** By the hour, of everything that reservations keep unused. */
  kept: bigint;
}

interface Rules {
  horizon: number;
  hold: number;
  grace: number;
  credit: bigint;
}

/** One run; the seed is printed so that a failure can be replayed with `GPUAAS_SEED`. */
export async function spendAtRandom(seed: number, bursts: number): Promise<SpendingModel['counts']> {
  console.log(`seed ${seed}`);
  const model = await SpendingModel.open(new SeededRandom(seed));
  try {
    for (let burst = 0; burst < bursts; burst += 1) await model.burst();
    return model.counts;
  } finally {
    await model.stop();
  }
}

/**
 * Random launches, queued launches, releases, top-ups, price changes and reservations of two tenants through the real API,
 * several together. The clock stands still within a burst, so that amounts can be compared exactly.
 */
class SpendingModel {
  readonly counts = { sold: 0, queued: 0, started: 0, reserved: 0, refused: 0, stopped: 0 };
  readonly #random: SeededRandom;
  readonly #rules: Rules;
  readonly #api: TestApi;
  readonly #clock: ReturnType<typeof manualClock>;
  readonly #worker: PlatformServices;
  readonly #operator: TestCaller;
  readonly #tenants: Tenant[];

  private constructor(
    random: SeededRandom,
    rules: Rules,
    api: TestApi,
    clock: ReturnType<typeof manualClock>,
    tenants: Tenant[],
  ) {
    this.#random = random;
    this.#rules = rules;
    this.#api = api;
    this.#clock = clock;
    this.#worker = servicesAsRole(api.services, 'gpuaas_worker');
    this.#operator = withBearer(api, api.people['operator']!.apiKey);
    this.#tenants = tenants;
  }

  static async open(random: SeededRandom): Promise<SpendingModel> {
    const clock = manualClock(new Date());
    const api = await createTestApi({ clock, withoutCredit: true });
    const { db, policies } = api.services;
    await sql`update sku_catalog set enabled = true`.execute(db);
    for (const slots of [4, 4, 4, 6]) await addHost(db, slots);
    const rules: Rules = {
      horizon: random.pick([1800, 3600, 7200]),
      hold: random.pick([3600, 14_400]),
      grace: random.pick([0, 1800, 3600]),
      credit: BigInt(random.pick([0, 0, 5_000_000])),
    };
    const values = {
      'billing.minimum_launch_seconds': rules.horizon,
      'reservations.hold_seconds': rules.hold,
      'billing.grace_seconds': rules.grace,
      'billing.credit_line_micros': Number(rules.credit),
      'reservations.max_fleet_percent': 100,
      'reservations.cooldown_seconds': 0,
      'reservations.requires_payment': false,
    };
    const rows = Object.entries(values).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
    await db.insertInto('policy_values').values(rows).execute();
    await policies.refresh();
    const tenants = await Promise.all(['admin', 'other'].map((person) => openTenant(api, person)));
    return new SpendingModel(random, rules, api, clock, tenants);
  }

  async stop(): Promise<void> {
    await this.#api.stop();
  }

  /** Several steps together, then what the rows say of each tenant; then some time passes. */
  async burst(): Promise<void> {
    const before = await this.#positions();
    const width = this.#random.between(1, 5);
    const steps = Array.from({ length: width }, () => this.#step());
    await Promise.all(steps.map((step) => step()));
    const after = await this.#positions();
    for (const [index, tenant] of this.#tenants.entries()) {
      this.#expectCovered(tenant, before[index]!, after[index]!);
    }
    if (this.#random.chance(0.5)) await this.#activateSome();
    if (this.#random.chance(0.4)) await this.#wait(this.#random.between(1, 8));
  }

  /** Nothing is sold beyond the money: rate and reservations grow only as far as it covers them. */
  #expectCovered(tenant: Tenant, before: Position, after: Position): void {
    const { horizon, hold } = this.#rules;
    if (after.rate > before.rate || after.kept > before.kept) {
      const exposure = costFor(after.rate, horizon) + costFor(after.kept, hold);
      expect(exposure, inspect({ before, after, rules: this.#rules })).toBeLessThanOrEqual(after.available);
    }
    if (after.rate > tenant.highestRate) tenant.highestRate = after.rate;
  }

  #step(): () => Promise<void> {
    const random = this.#random;
    const tenant = random.pick(this.#tenants);
    const projectId = random.pick(tenant.projectIds);
    const dice = random.next();
    if (dice < 0.46) {
      const body = {
        ...launchBody(projectId, random.between(1, 4)),
        when_unavailable: random.pick(['fail', 'queue']),
      };
      return () => this.#launch(tenant, body);
    }
    if (dice < 0.6) {
      const [amount, asPayment] = [random.between(1, 60_000_000), random.chance(0.5)];
      return () => this.#topUp(tenant, amount, asPayment);
    }
    if (dice < 0.68) {
      const micros = random.between(200_000, 4_000_000);
      return () => this.#setPrice(micros);
    }
    if (dice < 0.8) {
      const startsIn = random.pick([-1, 24 * 3600]);
      return () => this.#reserve(tenant, projectId, startsIn);
    }
    return async () => {
      this.counts.started += (await runQueue(this.#worker)) ?? 0;
    };
  }

  async #launch({ caller }: Tenant, body: object): Promise<void> {
    const { status, body: made } = await caller.ask<Allocation & { code?: string }>(
      'POST',
      '/api/v1/allocations',
      body,
    );
    if (status === 202) this.counts[made.state === 'queued' ? 'queued' : 'sold'] += 1;
    else this.#refused(status, made.code);
  }

  async #topUp(tenant: Tenant, micros: number, asPayment: boolean): Promise<void> {
    const amount = { currency: 'USD', micros };
    const path = `/api/v1/admin/tenants/${tenant.organizationId}`;
    if (asPayment) {
      tenant.paid = true;
      const bill = { amount, reference: newId(), note: 'Wire transfer' };
      await this.#operator.post(`${path}/payments`, bill);
    } else {
      const bill = { kind: 'adjustment', amount, reason: 'For the test' };
      await this.#operator.post(`${path}/ledger-adjustments`, bill);
    }
  }

  async #setPrice(micros: number): Promise<void> {
    const price = { ...SKU, per_gpu_hour: { currency: 'USD', micros } };
    const { status, text } = await this.#operator.ask('POST', '/api/v1/admin/prices', price);
    // The clock stands still: a second price of the same moment is refused.
    expect([201, 409], text).toContain(status);
  }

  async #reserve({ caller }: Tenant, projectId: string, startsIn: number): Promise<void> {
    // SQL judges by the database's clock whether it has begun.
    const starts = Date.now() + startsIn * 1000;
    const { status, body } = await caller.ask<{ code?: string }>('POST', '/api/v1/reservations', {
      ...SKU,
      project_id: projectId,
      node_count: 1,
      starts_at: new Date(starts).toISOString(),
      ends_at: new Date(starts + 72 * 3_600_000).toISOString(),
      reason: 'For the test',
    });
    if (status === 201) this.counts.reserved += 1;
    else this.#refused(status, body.code);
  }

  #refused(status: number, code: string | undefined): void {
    expect([409, 422], code).toContain(status);
    this.counts.refused += 1;
  }

  /** Machines answer, and some leases end. */
  async #activateSome(): Promise<void> {
    const { db } = this.#api.services;
    const rows = await db
      .selectFrom('allocations')
      .selectAll()
      .where('state', 'in', ['reserved', 'active', 'queued'])
      .where('release_requested_at', 'is', null)
      .orderBy('id')
      .execute();
    for (const row of rows) {
      if (row.state === 'reserved' && this.#random.chance(0.7)) {
        await db.transaction().execute(async (tx) => {
          const active = await tx
            .updateTable('allocations')
            .set({ state: 'active', active_at: this.#clock.now() })
            .where('id', '=', row.id)
            .returningAll()
            .executeTakeFirstOrThrow();
          await startMeter(tx, active);
        });
      }
      if (this.#random.chance(0.2)) {
        const owner = this.#tenants.find(({ organizationId }) => organizationId === row.organization_id)!;
        await owner.caller.post(`/api/v1/allocations/${row.id}/release`);
      }
    }
    await this.#endReleased();
  }

  /** Machines whose release was requested are wiped and their slots are free. */
  async #endReleased(): Promise<void> {
    const { db } = this.#api.services;
    const { rows } = await sql<{ id: string }>`
      select id from allocations where release_requested_at is not null and state in ('reserved', 'active')
      order by id`.execute(db);
    for (const { id } of rows) await db.transaction().execute((tx) => endLease(tx, id));
  }

  /** Time passes; the platform meters, warns, stops, lapses reservations and serves the queue as it always does. */
  async #wait(looks: number): Promise<void> {
    for (let look = 0; look < looks; look += 1) {
      this.#clock.advance(LOOK_SECONDS * 1000);
      await meterAllLeases(this.#worker);
      const before = await this.#positions();
      await checkAllBalances(this.#worker, releaseLeases);
      await checkReservations(this.#worker);
      const after = await this.#positions();
      for (const [index, tenant] of this.#tenants.entries()) {
        this.#expectBoundedDebt(tenant, before[index]!);
        if (after[index]!.rate < before[index]!.rate) this.counts.stopped += 1;
        if (after[index]!.available > 0n) tenant.highestRate = after[index]!.rate;
      }
      await this.#endReleased();
    }
  }

  /** What runs on without money does so for the grace and two looks, at a rate that the money once covered. */
  #expectBoundedDebt({ paid, highestRate }: Tenant, { available }: Position): void {
    const unpaid = (paid ? this.#rules.grace : 0) + 2 * LOOK_SECONDS;
    expect(-available).toBeLessThanOrEqual(costFor(highestRate, unpaid) + 1n);
  }

  async #positions(): Promise<Position[]> {
    return await Promise.all(this.#tenants.map(({ organizationId }) => this.#position(organizationId)));
  }

  async #position(organizationId: string): Promise<Position> {
    const { db } = this.#api.services;
    const now = this.#clock.now();
    const { rows: leases } = await sql<LeaseRow>`
      select a.project_id, a.node_id, a.state, a.release_requested_at, m.started_at, m.metered_seconds, m.ended_at,
        (a.per_gpu_hour_micros * a.gpu_count)::text as rate
      from allocations a left join allocation_meters m on m.allocation_id = a.id
      where a.organization_id = ${organizationId} and a.state <> 'queued'`.execute(db);
    const { rows: reservations } = await sql<ReservationRow>`
      select r.project_id, r.held_per_hour_micros::text as rate,
        array(select p.node_id::text from node_promises p where p.reservation_id = r.id) as nodes
      from capacity_reservations r
      where r.organization_id = ${organizationId} and r.cancelled_at is null and r.ends_at > ${now}`.execute(
      db,
    );
    const { rows: entries } = await sql<{ micros: string | null }>`
      select sum(micros)::text as micros from balance_snapshots where organization_id = ${organizationId}`.execute(
      db,
    );
    const live = leases.filter(
      ({ state, release_requested_at }) =>
        ['reserved', 'provisioning', 'active'].includes(state) && release_requested_at === null,
    );
    const sum = (rows: { rate: string }[]): bigint =>
      rows.reduce((total, { rate }) => total + BigInt(rate), 0n);
    const kept = reservations.map(({ project_id, nodes, rate }) => {
      const own = live.filter((one) => one.project_id === project_id && nodes.includes(one.node_id));
      const left = BigInt(rate) - sum(own);
      return left > 0n ? left : 0n;
    });
    const accrued = leases.reduce((total, lease) => total + accruedOf(lease, now), 0n);
    const balance = BigInt(entries[0]?.micros ?? 0);
    return {
      balance,
      available: balance - accrued + this.#rules.credit,
      rate: sum(live),
      kept: kept.reduce((total, one) => total + one, 0n),
    };
  }
}

interface LeaseRow {
  project_id: string;
  node_id: string;
  state: string;
  release_requested_at: Date | null;
  started_at: Date | null;
  metered_seconds: bigint | null;
  ended_at: Date | null;
  rate: string;
}

interface ReservationRow {
  project_id: string;
  rate: string;
  nodes: string[];
}

/** Cost of a lease since its last debit. */
function accruedOf(
  { started_at, ended_at, metered_seconds, release_requested_at, rate }: LeaseRow,
  now: Date,
) {
  if (started_at === null || ended_at !== null) return 0n;
  const until = release_requested_at !== null && release_requested_at < now ? release_requested_at : now;
  const seconds = Math.floor((until.getTime() - started_at.getTime()) / 1000) - Number(metered_seconds);
  return costFor(BigInt(rate), Math.max(0, seconds));
}

async function openTenant(api: TestApi, person: string): Promise<Tenant> {
  const { apiKey, organizationId, projectId } = api.people[person]!;
  const caller = withBearer(api, apiKey);
  const second = await caller.post<{ id: string }>('/api/v1/projects', {
    organization_id: organizationId,
    name: 'second',
  });
  return {
    caller,
    organizationId: organizationId!,
    projectIds: [projectId!, second.id],
    paid: false,
    highestRate: 0n,
  };
}
