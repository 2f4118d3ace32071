import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { reserveFast } from '@gpuaas/control-plane/domains/allocations/launch/reserve-fast';
import { OrderReserver } from '@gpuaas/control-plane/domains/allocations/launch/order-reserver';
import type { LaunchOrder } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { inScope, databaseAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { RETRIED_BATCHES_CHANNEL } from '@gpuaas/control-plane/platform/batcher';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { WorkflowClient } from '@gpuaas/control-plane/platform/workflows/workflow-client';
import { newBuyers, randomOrder, seedFleet } from '../../benchmarks/placement/fleet.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

const [buyer, newcomer] = newBuyers(2);
const { organizationId, projectId } = buyer!;
const policies = fixedPolicies({});
let database: Database;
let drop: () => Promise<void>;
let services: ConstructorParameters<typeof OrderReserver>[0];
let reserver: OrderReserver;
let host: Awaited<ReturnType<typeof addHost>>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 5 });
  const { db } = database;
  const workflows = await WorkflowClient.connect(made.url, createLogger('test'));
  services = { db, policies, workflows, fleetIndex: new FleetIndex(policies) };
  reserver = new OrderReserver(services);
  await seedFleet(db, 0, [buyer!, newcomer!]);
  host = await addHost(db, 8);
  // With the first sale there are counters; later ones find them.
  expect(await reserver.catchUpAndReserve([order()])).toMatchObject([
    { kind: 'reserved', allocation: { state: 'reserved' } },
  ]);
});
afterAll(async () => {
  await services?.workflows.close();
  await database?.close();
  await drop?.();
});
afterEach(async () => {
  expect(await claimDefects(database.db)).toEqual([]);
  expect(await verifyQuotas(database.db, 10)).toEqual([]);
});

/** A slice of one GPU, with something of it changed. */
function order(change: Partial<LaunchOrder> = {}): LaunchOrder {
  return { ...randomOrder(() => 0.3, [buyer!]), ...change };
}

async function look(): Promise<void> {
  await services.fleetIndex.catchUp(databaseAsRole(database.db, 'gpuaas_placement'), [], 'now');
}

async function written(): Promise<Record<string, string>> {
  const { rows } = await sql<Record<string, string>>`
    select (select count(*) from allocations) as allocations, (select count(*) from claim_cells) as cells,
      (select count(*) from audit_logs) as audits, (select count(*) from outbox_events) as events,
      (select count(*) from workflow_starts) as starts,
      (select count(*) from node_resource_slots where state = 'reserved') as slots`.execute(database.db);
  return rows[0]!;
}

const run = (statement: ReturnType<typeof sql>) => async (): Promise<void> => {
  await statement.execute(database.db);
};
const onHost = (change: string) => (): Promise<void> =>
  run(sql`update nodes set ${sql.raw(change)} where id = ${host.nodeId}`)();
const onSlots = (change: string) => (): Promise<void> =>
  run(
    sql`update node_resource_slots set ${sql.raw(change)} where node_id = ${host.nodeId} and state <> 'reserved'`,
  )();
const limited = (setBy: string, amount: number) => (): Promise<void> =>
  run(sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${organizationId}, 'project', ${projectId}, 'gpus', 'H200-SXM-141GB', ${setBy}, ${amount})`)();
const unlimited = run(sql`delete from quota_limits`);
const stranger = newId();

/** Concurrent changes between a decision and its lease, and how to undo them. */
const changes: Record<string, [does: () => Promise<void>, undoes: () => Promise<void>]> = {
  'the host drains': [onHost('draining = true'), onHost('draining = false')],
  'the host has another mode': [onHost(`mode = 'baremetal'`), onHost(`mode = 'slice'`)],
  'the host is in another region': [onHost(`region = 'eu-central-1'`), onHost(`region = 'uae-north-1'`)],
  'the host is silent': [
    onHost(`last_heartbeat_at = now() - interval '1 hour'`),
    onHost(`last_heartbeat_at = now() + interval '1 day'`),
  ],
  'the host is cordoned': [
    () =>
      run(sql`insert into node_cordons (node_id, reason, detail) values (${host.nodeId}, 'burn_in', 'x')`)(),
    run(sql`delete from node_cordons`),
  ],
  'the host is promised to somebody else': [
    () =>
      run(sql`insert into node_promises (id, node_id, holder_id, starts_at)
        values (${newId()}, ${host.nodeId}, ${stranger}, now())`)(),
    run(sql`delete from node_promises`),
  ],
  'slots are disabled': [onSlots(`state = 'disabled'`), onSlots(`state = 'available'`)],
  'slots are unhealthy': [onSlots(`health_state = 'unhealthy'`), onSlots(`health_state = 'healthy'`)],
  'GPUs are of another model': [onSlots(`gpu_model = 'B200'`), onSlots(`gpu_model = 'H200-SXM-141GB'`)],
  'the platform sets a quota': [limited('platform', 1), unlimited],
  'the tenant sets a quota': [limited('tenant', 1), unlimited],
  'the project is closed': [
    run(sql`update projects set deleted_at = now() where id = ${projectId}`),
    run(sql`update projects set deleted_at = null where id = ${projectId}`),
  ],
};

describe('a sale that was decided', () => {
  it('is written in one statement, with all its rows', async () => {
    await look();
    const before = await written();
    const wanted = order();
    const sold = await reserveFast(services, [wanted]);
    expect(sold.get(wanted)).toMatchObject({ id: wanted.allocation.id, node_id: host.nodeId });
    const after = await written();
    const added = Object.fromEntries(
      Object.entries(after).map(([what, count]) => [what, Number(count) - Number(before[what])]),
    );
    // The reservation and the request of the allocation, and one event of the host.
    expect(added).toEqual({ allocations: 1, cells: 1, audits: 1, events: 3, starts: 1, slots: 1 });
    const row = await database.db
      .selectFrom('allocations')
      .selectAll()
      .where('id', '=', wanted.allocation.id)
      .executeTakeFirstOrThrow();
    expect(row).toEqual(sold.get(wanted));
  });

  it.each(Object.entries(changes))('is not written when %s', async (_name, [does, undoes]) => {
    await look();
    const before = await written();
    await does();
    expect(await reserveFast(services, [order()])).toEqual(new Map());
    expect(await written()).toEqual(before);
    await undoes();
    await look();
    expect((await reserveFast(services, [order()])).size).toBe(1);
    await giveBack();
  });

  it('is not written when the money covers one of two, or a key was used before', async () => {
    await look();
    const before = await written();
    const { funds } = order();
    const covered = (count: bigint): LaunchOrder =>
      order({ funds: { ...funds, availableMicros: funds.perHour.micros * count } });
    // Every remaining claim is one pending GPU.
    const onTheirWay = BigInt(before['cells']!);
    expect(await reserveFast(services, [covered(onTheirWay + 1n), covered(onTheirWay + 1n)])).toEqual(
      new Map(),
    );
    expect(await written()).toEqual(before);
    expect((await reserveFast(services, [covered(onTheirWay + 1n)])).size).toBe(1);
    await giveBack();

    const request = {
      callerId: buyer!.userId,
      key: 'used',
      operation: 'createAllocation',
      requestHash: Buffer.alloc(32),
    };
    const keyed = (): LaunchOrder => {
      const plain = order();
      const answer = { request, reply: { status: 202, body: {}, location: null } };
      return { ...plain, commitExtras: (sold) => ({ ...plain.commitExtras!(sold), answer }) };
    };
    expect((await reserveFast(services, [keyed()])).size).toBe(1);
    const again = await written();
    expect(await reserveFast(services, [keyed()])).toEqual(new Map());
    expect(await written()).toEqual(again);
    await giveBack();
  });

  it('is written with care instead, and others of its group with it', async () => {
    const messages: unknown[] = [];
    const listen = (message: unknown): void => void messages.push(message);
    subscribe(RETRIED_BATCHES_CHANNEL, listen);
    onTestFinished(() => void unsubscribe(RETRIED_BATCHES_CHANNEL, listen));
    await look();
    await onHost('draining = true')();
    const other = await addHost(database.db, 2);
    // A missing quota counter is created on the slow path, for the whole batch.
    const first = randomOrder(() => 0.3, [newcomer!]);
    expect(await reserver.catchUpAndReserve([order(), first])).toMatchObject([
      { kind: 'reserved', allocation: { node_id: other.nodeId } },
      { kind: 'reserved', allocation: { node_id: other.nodeId } },
    ]);
    expect(messages).toEqual([{ batch: 'launches', size: 2 }]);
    await onHost('draining = false')();
  });
});

describe('a sale at the same moment as that of another process', () => {
  /** Another transaction does `theirs`; a lease starts, waits for it, and then sees its effect. */
  async function sellBehind(theirs: ReturnType<typeof sql>, wanted: LaunchOrder): Promise<number> {
    await look();
    const sold = await database.db.transaction().execute(async (tx) => {
      await theirs.execute(tx);
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      const waits = sql`select from pg_stat_activity where ${rows[0]!.pid} = any(pg_blocking_pids(pid))`;
      const selling = reserveFast(services, [wanted]);
      let ended = false;
      void selling.finally(() => (ended = true));
      while (!ended && (await waits.execute(database.db)).rows.length === 0);
      return { selling };
    });
    return (await sold.selling).size;
  }

  it('does not exceed a quota', async () => {
    const counter = sql`holder_id = ${projectId} and measure = 'gpus'`;
    await limited('platform', (await gpusOf(projectId)) + 1)();
    const { funds } = order();
    // A launch without an advance payment takes no lock on funds.
    const wanted = order({ funds: { ...funds, seconds: 0 } });
    expect(await sellBehind(sql`update quota_usage set used = used + 1 where ${counter}`, wanted)).toBe(0);
    await sql`update quota_usage set used = used - 1 where ${counter}`.execute(database.db);
    await look();
    expect((await reserveFast(services, [wanted])).size).toBe(1);
    await giveBack();
    await unlimited();
  });

  it('does not spend funds that another launch has taken', async () => {
    const { funds } = order();
    const onTheirWay = await onTheirWayOf(organizationId);
    const wanted = order({
      funds: { ...funds, availableMicros: funds.perHour.micros * (onTheirWay + 1n) },
    });
    const { rows } = await sql<{ id: string }>`
      select id from allocations where organization_id = ${organizationId} and state = 'released' limit 1`.execute(
      database.db,
    );
    // What a launch changes that the funds look at: its row, and the counter of its project.
    const counter = sql`holder_id = ${projectId} and measure = 'spend_per_hour'`;
    const theirs = sql`
      with lock as (select * from hold_funds(${[organizationId]}::uuid[])),
        counted as (update quota_usage set used = used + ${funds.perHour.micros} where ${counter})
      update allocations set state = 'reserved' where id = ${rows[0]!.id} and (select count(*) from lock) >= 0`;
    expect(await sellBehind(theirs, wanted)).toBe(0);
    await sql`with counted as (update quota_usage set used = used - ${funds.perHour.micros} where ${counter})
      update allocations set state = 'released' where id = ${rows[0]!.id}`.execute(database.db);
    await look();
    expect((await reserveFast(services, [wanted])).size).toBe(1);
    await giveBack();
  });
});

it('an incomplete row is not leased, whatever is missing', async () => {
  await sql`alter table node_resource_slots drop constraint sellable_slot_is_complete`.execute(database.db);
  const columns = [
    'gpu_pci_address',
    'fabric_vf_pci_address',
    'nvme_serial',
    'nvme_device',
    'management_mac',
    'private_ip',
  ] as const;
  const whole = await database.db.selectFrom('node_resource_slots').selectAll().execute();
  const writeAll = async (column: string, value: (slot: (typeof whole)[number]) => string): Promise<void> => {
    for (const slot of whole)
      await sql`update node_resource_slots set ${sql.ref(column)} = ${value(slot)} where id = ${slot.id}`.execute(
        database.db,
      );
  };
  // Unique by node: blank, and blank in another way for each.
  for (const column of columns) {
    await look();
    await writeAll(column, ({ slot_index }) => ' '.repeat(slot_index));
    expect(await reserveFast(services, [order()]), column).toEqual(new Map());
    await writeAll(column, (slot) => slot[column]);
  }
  for (const missing of ['fabric_claim_mode', 'destructive_wipe_policy']) {
    await look();
    await sql`update node_resource_slots set capacity_metadata = capacity_metadata - ${missing}::text`.execute(
      database.db,
    );
    expect(await reserveFast(services, [order()]), missing).toEqual(new Map());
    await sql`update node_resource_slots set capacity_metadata = capacity_metadata
      || '{"fabric_claim_mode": "per_slot_vf", "destructive_wipe_policy": "blkdiscard"}'`.execute(
      database.db,
    );
  }
  await look();
  expect((await reserveFast(services, [order()])).size).toBe(1);
});

it('the placement role writes only for the tenants of its launches', async () => {
  const sell = (request: object) =>
    sql`select sell(${JSON.stringify(request)})`.execute(databaseAsRole(database.db, 'gpuaas_placement'));
  const empty = {
    funds: [],
    quotas: [],
    hosts: [],
    slots: [],
    gpu_models: [],
    silence_seconds: 60,
    allocations: [],
    decided_at: new Date(),
    claims: [],
    claimants: [],
    claimed_slots: [],
    events: [],
    workflow: 'x',
    workflow_starts: [],
    audits: [],
    replies: [],
  };
  const tellOf = (allocations: object[], audits: object[], events: object[]) =>
    sell({ ...empty, allocations, audits, events });
  const [own, other] = [{ organization_id: organizationId }, { organization_id: newcomer!.organizationId }];
  await expect(tellOf([], [], [])).rejects.toThrow('a row belongs to a tenant without a launch');
  await expect(tellOf([], [own], [])).rejects.toThrow('a row belongs to a tenant without a launch');
  await expect(tellOf([own], [other], [])).rejects.toThrow('a row belongs to a tenant without a launch');
  await expect(tellOf([own], [{ organization_id: null }], [])).rejects.toThrow(
    'a row belongs to a tenant without a launch',
  );
  await expect(tellOf([own], [], [other])).rejects.toThrow('a row belongs to a tenant without a launch');
  for (const part of Object.keys(empty)) {
    const incomplete = sell({ ...empty, allocations: [own], [part]: undefined });
    await expect(incomplete, part).rejects.toThrow('a part of the launches is missing');
  }
  const asTenant = (tenant: string) =>
    inScope(database.db, { role: 'gpuaas_tenant', organizationIds: [organizationId] }, (tx) =>
      sql`select * from hold_funds(${[tenant]}::uuid[])`.execute(tx),
    );
  await asTenant(organizationId);
  await expect(asTenant(newcomer!.organizationId)).rejects.toThrow('the funds of another tenant');
});

async function gpusOf(project: string): Promise<number> {
  const { rows } = await sql<{ used: bigint }>`
    select used from quota_usage where holder_id = ${project} and measure = 'gpus'`.execute(database.db);
  return Number(rows[0]!.used);
}

async function onTheirWayOf(tenant: string): Promise<bigint> {
  const { rows } = await sql<{
    gpus: bigint;
  }>`select coalesce(sum(gpu_count), 0)::bigint as gpus from allocations
    where organization_id = ${tenant} and state in ('reserved', 'provisioning')`.execute(database.db);
  return rows[0]!.gpus;
}

/** The slots of the newest allocation are for sale again. */
async function giveBack(): Promise<void> {
  const { db } = database;
  await sql`
    with newest as (
      select c.* from allocation_resource_claims c join allocations a on a.id = c.allocation_id
      where c.released_at is null order by a.id desc limit 1
    ), wiped as (
      insert into wipe_certificates (id, allocation_id, slot_id, slot_index, device_serial, method, verified,
        verification, started_at, finished_at, witnessed_by)
      select uuidv7(), n.allocation_id, n.slot_id, s.slot_index, s.nvme_serial, 'blkdiscard', true, 'seen', now(), now(),
        ${stranger}
      from newest n join node_resource_slots s on s.id = n.slot_id
      returning id, allocation_id, slot_id
    ), ended as (
      update allocation_resource_claims c set released_at = now() from wiped w
      where c.allocation_id = w.allocation_id returning w.id, w.allocation_id, w.slot_id
    ), released as (
      update allocations a set state = 'released', released_at = now() from ended e where a.id = e.allocation_id
    )
    select 1`.execute(db);
  await sql`
    update node_resource_slots s set state = 'available', last_wipe_id = w.id from wipe_certificates w
    where w.slot_id = s.id and s.state = 'reserved' and not exists (
      select from claim_cells e where e.node_id = s.node_id and e.cell = s.slot_index)
      and w.id = (select id from wipe_certificates l where l.slot_id = s.id order by id desc limit 1)`.execute(
    db,
  );
}
