import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { launchGroup } from '@gpuaas/control-plane/domains/allocations/launch/launch-group';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import type { Caller } from '@gpuaas/control-plane/platform/auth/caller';
import type { Tx } from '@gpuaas/control-plane/platform/db/database';
import { inScope } from '@gpuaas/control-plane/platform/db/scope';
import { claimIdempotencyKey, storeReply } from '@gpuaas/control-plane/platform/http/idempotency';
import { Problem } from '@gpuaas/control-plane/platform/http/problem';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';
import { newTenant, type TestTenant } from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await drainHosts();
});
afterEach(async () => {
  expect(await claimDefects(api.services.db)).toEqual([]);
  expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
});

/** Hosts of earlier tests take no launches. */
async function drainHosts(): Promise<void> {
  await sql`update nodes set draining = true`.execute(api.services.db);
}

function callerOf({ admin, organizationId }: TestTenant): Caller {
  return {
    id: admin.userId,
    actorId: admin.userId,
    userId: admin.userId,
    ownerUserId: admin.userId,
    role: 'tenant_admin',
    email: admin.email,
    name: 'test',
    organizationIds: [organizationId],
    bindings: [
      {
        group: 'tenant_admin',
        scope: 'tenant',
        permissions: ['allocation.create'],
        organizationId,
        projectId: null,
      },
    ],
    credential: { kind: 'api_key', id: newId(), scopes: null },
    authorised: false,
    scope: { role: 'gpuaas_tenant', organizationIds: [organizationId], callerId: admin.userId },
  };
}

type Row = { id: string; node_id: string | null; state: string };

/** The result of a group launch in its own transaction; a refusal is a value. */
async function launch(
  tenant: TestTenant,
  gpus: readonly number[],
  services: PlatformServices = api.services,
): Promise<{ rows: Row[]; problem: Problem | null }> {
  const caller = callerOf(tenant);
  try {
    const rows = await inScope(services.db, caller.scope, (tx) => group(services, tx, tenant, gpus));
    return { rows, problem: null };
  } catch (error) {
    if (error instanceof Problem) return { rows: [], problem: error };
    throw error;
  }
}

function group(services: PlatformServices, tx: Tx, tenant: TestTenant, gpus: readonly number[]) {
  const requests = gpus.map((count) => launchBody(tenant.projectId, count));
  return launchGroup(services, tx, callerOf(tenant), requests, newId());
}

async function countRows({ organizationId }: TestTenant): Promise<{ allocations: number; claims: number }> {
  const { rows } = await sql<{ allocations: number; claims: number }>`
    select count(distinct a.id)::integer as allocations, count(c.id)::integer as claims
    from allocations a left join allocation_resource_claims c on c.allocation_id = a.id
    where a.organization_id = ${organizationId}`.execute(api.services.db);
  return rows[0]!;
}

/** As in `reserve-slots.ts`: one transaction at a time waits for rivals. */
const PATIENT_LOCK = 4_872_010;
const NOTHING = { allocations: 0, claims: 0 };

it('reserves every member in one transaction, on one host or several', async () => {
  const tenant = await newTenant(api);
  const hosts = [await addHost(api.services.db, 4), await addHost(api.services.db, 4)];
  const { rows } = await launch(tenant, [4, 2, 2]);
  expect(rows).toMatchObject([{ state: 'reserved' }, { state: 'reserved' }, { state: 'reserved' }]);
  expect(new Set(rows.map(({ node_id }) => node_id))).toEqual(new Set(hosts.map(({ nodeId }) => nodeId)));
  expect(await countRows(tenant)).toEqual({ allocations: 3, claims: 8 });
  const { rows: written } = await sql<{ starts: number; transactions: number }>`
    select count(s.workflow_id)::integer as starts, count(distinct a.xmin::text)::integer as transactions
    from allocations a join workflow_starts s on s.input ->> 'allocationId' = a.id::text
    where a.organization_id = ${tenant.organizationId}`.execute(api.services.db);
  expect(written).toEqual([{ starts: 3, transactions: 1 }]);
});

it('is refused as a whole when one member does not fit, names it, and holds nothing', async () => {
  const tenant = await newTenant(api);
  await addHost(api.services.db, 4);
  await addHost(api.services.db, 2);
  const { problem } = await launch(tenant, [2, 3, 2]);
  expect(problem).toMatchObject({
    code: 'sku_unavailable',
    message: expect.stringMatching(/^Launch 3 of 3 in the group: /),
    options: { extensions: { group_index: 2, requested_gpu_count: 2 } },
  });
  expect(await countRows(tenant)).toEqual(NOTHING);
  expect(api.services.fleetIndex.holdsAny).toBe(false);
  // The room is still there for a group that fits.
  expect((await launch(tenant, [2, 4])).rows).toHaveLength(2);
});

it('is refused for a member that could not be launched at all', async () => {
  const tenant = await newTenant(api);
  const stranger = await newTenant(api);
  await addHost(api.services.db, 8);
  const caller = callerOf(tenant);
  const requests = [launchBody(tenant.projectId, 1), launchBody(stranger.projectId, 1)];
  const foreign = inScope(api.services.db, caller.scope, (tx) =>
    launchGroup(api.services, tx, caller, requests, newId()),
  );
  await expect(foreign).rejects.toMatchObject({
    code: 'not_found',
    options: { extensions: { group_index: 1 } },
  });
  expect(await countRows(tenant)).toEqual(NOTHING);
});

it('counts the sum of its members against a quota', async () => {
  const tenant = await newTenant(api);
  const { organizationId, projectId } = tenant;
  await addHost(api.services.db, 8);
  await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${organizationId}, 'project', ${projectId}, 'gpus', 'H200-SXM-141GB', 'platform', 4)`.execute(
    api.services.db,
  );
  const { problem } = await launch(tenant, [2, 2, 1]);
  expect(problem).toMatchObject({
    code: 'quota_exceeded',
    options: { extensions: { group_index: 2, exceeded: [{ limit: 4, used: 4, asked: 1 }] } },
  });
  expect(await countRows(tenant)).toEqual(NOTHING);
  expect((await launch(tenant, [2, 2])).rows).toHaveLength(2);
});

it('must be covered by the funds as a whole', async () => {
  const tenant = await newTenant(api);
  await addHost(api.services.db, 8);
  const { rows } = await sql<{ micros: bigint; price: bigint }>`
    select b.micros, p.per_gpu_hour_micros as price from balance_snapshots b, sku_prices p
    where b.organization_id = ${tenant.organizationId} and p.organization_id is null and p.currency = b.currency
      and p.sku = 'h200-sxm-slice' and p.region = 'uae-north-1' and p.effective_until is null
    order by p.effective_from desc limit 1`.execute(api.services.db);
  const { micros, price } = rows[0]!;
  const { policies } = api.services;
  // The balance lasts so long for three GPUs.
  const seconds = Number((micros * 3600n) / (price * 3n));
  const demanding = {
    ...api.services,
    policies: {
      get: ((key, scope) =>
        key === 'billing.minimum_launch_seconds' ? seconds : policies.get(key, scope)) as typeof policies.get,
      explain: policies.explain.bind(policies),
      refresh: () => policies.refresh(),
    },
  };
  const { problem } = await launch(tenant, [2, 2], demanding);
  expect(problem).toMatchObject({ code: 'balance_too_low', options: { extensions: { group_index: 1 } } });
  expect(problem!.options.extensions!['kept_for_launches_on_their_way']).not.toMatchObject({ amount: '0' });
  expect(await countRows(tenant)).toEqual(NOTHING);
  expect((await launch(tenant, [2, 1], demanding)).rows).toHaveLength(2);
});

it('of two groups in two processes that fit only one by one, exactly one is reserved', async () => {
  const { db, policies } = api.services;
  const tenants = [await newTenant(api), await newTenant(api)];
  const processes = [api.services, { ...api.services, fleetIndex: new FleetIndex(policies) }];
  for (let round = 0; round < 5; round += 1) {
    await drainHosts();
    for (let host = 0; host < 3; host += 1) await addHost(db, 2);
    const results = await Promise.all(
      tenants.map((tenant, index) => launch(tenant, [2, 2], processes[index])),
    );
    expect(results.map(({ rows }) => rows.length).toSorted((a, b) => a - b)).toEqual([0, 2]);
    expect(results.map(({ problem }) => problem?.code ?? 'reserved').toSorted()).toEqual([
      'reserved',
      'sku_unavailable',
    ]);
  }
});

/** Two groups that each lock a part in their quick tries and then wait for their turn. */
it('a group that waits for its turn holds no slots that the group before it needs', async () => {
  const { db, policies } = api.services;
  const [first, second] = [await newTenant(api), await newTenant(api)];
  const other = { ...api.services, fleetIndex: new FleetIndex(policies) };
  const [small, large] = [await addHost(db, 2), await addHost(db, 3)];
  await addHost(db, 2);
  const lockSlots = (tx: Tx, { nodeId }: { nodeId: string }) =>
    sql`select from node_resource_slots where node_id = ${nodeId} for update`.execute(tx);
  const waiting = async (groups: number): Promise<void> => {
    const waiters = sql`select from pg_locks where locktype = 'advisory' and objid = ${PATIENT_LOCK} and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(async () => (await waiters.execute(db)).rows.length, { timeout: 20_000 }).toBe(groups);
  };
  const { pending } = await db.transaction().execute(async (turn) => {
    await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(turn);
    return await db.transaction().execute(async (onLarge) => {
      await lockSlots(onLarge, large);
      const { ahead } = await db.transaction().execute(async (onSmall) => {
        await lockSlots(onSmall, small);
        const launched = launch(first, [2, 2]);
        await waiting(1);
        return { ahead: launched };
      });
      const behind = launch(second, [2, 3], other);
      await waiting(2);
      return { pending: [ahead, behind] };
    });
  });
  const [served, refused] = await Promise.all(pending);
  expect(served!.rows).toHaveLength(2);
  expect(refused!.problem).toMatchObject({ code: 'sku_unavailable' });
});

it('runs once for one idempotency key, also when two requests with it arrive together', async () => {
  const tenant = await newTenant(api);
  await addHost(api.services.db, 8);
  const caller = callerOf(tenant);
  const key = {
    callerId: caller.id,
    key: newId(),
    operation: 'launchGroup',
    requestHash: Buffer.alloc(32, 1),
  };
  const once = () =>
    inScope(api.services.db, caller.scope, async (tx) => {
      const stored = await claimIdempotencyKey(tx, key);
      if (stored) return stored.body;
      const ids = (await group(api.services, tx, tenant, [1, 2])).map(({ id }) => id);
      await storeReply(tx, key, { status: 202, body: ids, location: null });
      return ids;
    });
  const [first, second] = await Promise.all([once(), once()]);
  expect(first).toHaveLength(2);
  expect(second).toEqual(first);
  expect(await once()).toEqual(first);
  expect(await countRows(tenant)).toEqual({ allocations: 2, claims: 3 });
});
