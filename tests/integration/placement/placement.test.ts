import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endLeases } from '@gpuaas/control-plane/domains/allocations/leases/end-leases';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
  // A broken bootstrap could leave this in a database: placement must not rely on the constraint.
  await sql`alter table node_resource_slots drop constraint sellable_slot_is_complete`.execute(
    api.services.db,
  );
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update node_resource_slots set state = 'disabled' where state = 'available'`.execute(
    api.services.db,
  );
});

function post(person: string, url: string, payload: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  return api.server.inject({ method: 'POST', url, headers, payload });
}

const launch = (gpus: number, more: object = {}) =>
  post('member', '/api/v1/allocations', { ...launchBody(api.people['member']!.projectId!, gpus), ...more });

const explain = (person: string, gpus: number, more: object = {}) =>
  post(person, '/api/v1/placements/explain', {
    sku: 'h200-sxm-slice',
    gpu_count: gpus,
    region: 'uae-north-1',
    ...more,
  });

describe('an explanation', () => {
  it('says whether it fits, what it costs, and to tenants never where', async () => {
    const { nodeId } = await addHost(api.services.db);
    const tenant = (await explain('member', 2, { max_duration_seconds: 1800 })).json();
    expect(tenant).toMatchObject({
      fits: true,
      requested: { capacity_shape: 'gpu_slice', gpu_count: 2 },
      nearest: { gpu_count: 2 },
      nodes: null,
    });
    expect(tenant.price.per_hour.micros).toBe(2 * tenant.price.per_gpu_hour.micros);
    expect(tenant.price.for_max_duration.micros).toBe(tenant.price.per_gpu_hour.micros);
    expect(tenant.at_zero).toBeNull();
    const { projectId } = api.people['member']!;
    const own = (await explain('member', 2, { project_id: projectId })).json();
    expect(own.at_zero).toContain('Running leases are released 1 h later');
    const operator = (await explain('operator', 2)).json();
    expect(operator.nodes[0]).toMatchObject({ node_id: nodeId, free_gpus: 8, rejected_by: [] });
    expect(operator.nodes[0].scores.map(({ score }: { score: string }) => score)).toContain(
      'smallest_leftover',
    );
  });

  it('equals the refusal of a launch: reasons, nearest shape, expected time', async () => {
    await addHost(api.services.db, 4);
    const held = await launch(3, { max_duration_seconds: 3600 });
    expect(held.statusCode).toBe(202);
    const refusal = (await launch(4)).json();
    const explained = (await explain('member', 4)).json();
    expect(refusal).toMatchObject({ code: 'sku_unavailable', nearest_gpu_count: 1 });
    expect(refusal.expected_at).toBe(held.json().ends_at);
    expect(explained).toMatchObject({
      fits: false,
      price: refusal.price,
      reasons: refusal.reasons,
      nearest: { gpu_count: 1 },
      expected_at: refusal.expected_at,
    });
  });

  it('of a whole node offers no slice, and says nothing of sizes that are not sold', async () => {
    await addHost(api.services.db);
    const whole = { sku: 'h200-sxm-baremetal' };
    const refusal = (await launch(8, whole)).json();
    expect(refusal).toMatchObject({
      code: 'sku_unavailable',
      detail: 'No whole node with 8 GPUs is available right now.',
      nearest_gpu_count: null,
    });
    const explained = (await explain('member', 8, whole)).json();
    expect(explained).toMatchObject({ fits: false, nearest: null, reasons: refusal.reasons });
  });

  it('refuses what is not sold like a launch does', async () => {
    expect((await explain('member', 9)).json()).toMatchObject({ code: 'gpu_count_not_allowed' });
    expect((await explain('member', 1, { region: 'us-east-1' })).json()).toMatchObject({
      code: 'region_unavailable',
    });
  });
});

/** Possible obstacles of a host with capacity, and how to set and remove them. */
const obstacles: Record<string, { put: (nodeId: string) => unknown; lift: (nodeId: string) => unknown }> = {
  connected: {
    put: (id) => sql`update nodes set last_heartbeat_at = now() - interval '1 day' where id = ${id}`,
    lift: (id) => sql`update nodes set last_heartbeat_at = now() where id = ${id}`,
  },
  not_draining: {
    put: (id) => sql`update nodes set draining = true where id = ${id}`,
    lift: (id) => sql`update nodes set draining = false where id = ${id}`,
  },
  not_cordoned: {
    put: (id) => sql`insert into node_cordons (node_id, reason, detail) values (${id}, 'maintenance', 'd')`,
    lift: (id) => sql`delete from node_cordons where node_id = ${id}`,
  },
  node_mode: {
    put: (id) => sql`update nodes set mode = 'baremetal' where id = ${id}`,
    lift: (id) => sql`update nodes set mode = 'slice' where id = ${id}`,
  },
  enough_free_slots: {
    put: (id) =>
      sql`update node_resource_slots set state = 'disabled' where node_id = ${id} and slot_index = 1`,
    lift: (id) => sql`update node_resource_slots set state = 'available' where node_id = ${id}`,
  },
  complete_slots: {
    put: (id) =>
      sql`update node_resource_slots set nvme_serial = '' where node_id = ${id} and slot_index = 1`,
    lift: (id) =>
      sql`update node_resource_slots set nvme_serial = 'x' where node_id = ${id} and slot_index = 1`,
  },
  healthy_slots: {
    put: (id) => sql`update node_resource_slots set health_state = 'unhealthy' where node_id = ${id}`,
    lift: (id) => sql`update node_resource_slots set health_state = 'healthy' where node_id = ${id}`,
  },
};

describe('a refusal is true', () => {
  it.each(Object.entries(obstacles))(
    '%s: named as the only obstacle, and gone with it',
    async (filter, how) => {
      const { db } = api.services;
      const { nodeId } = await addHost(db, 2);
      await (how.put(nodeId) as ReturnType<typeof sql>).execute(db);
      const refused = await launch(2);
      expect(refused.statusCode).toBe(409);
      const named = refused.json().reasons.find((reason: { filter: string }) => reason.filter === filter);
      expect(named).toMatchObject({ nodes_otherwise_fitting: expect.any(Number) });
      expect(named.nodes_otherwise_fitting).toBeGreaterThan(0);
      await (how.lift(nodeId) as ReturnType<typeof sql>).execute(db);
      expect((await launch(2)).statusCode).toBe(202);
    },
  );

  it.each([
    ['enough_free_slots', 'complete_slots'],
    ['enough_free_slots', 'healthy_slots'],
    ['complete_slots', 'healthy_slots'],
  ])('%s and %s of one slot: both named, and only both gone will do', async (one, other) => {
    const { db } = api.services;
    const { nodeId } = await addHost(db, 2);
    const change = (what: unknown) => (what as ReturnType<typeof sql>).execute(db);
    const against = async () =>
      (await explain('operator', 2))
        .json()
        .nodes.find(({ node_id: id }: { node_id: string }) => id === nodeId).rejected_by;
    for (const filter of [one, other]) await change(obstacles[filter]!.put(nodeId));
    expect(await against()).toEqual([one, other]);
    await change(obstacles[one]!.lift(nodeId));
    expect(await against()).toEqual([other]);
    expect((await launch(2)).statusCode).toBe(409);
    await change(obstacles[other]!.lift(nodeId));
    expect((await launch(2)).statusCode).toBe(202);
  });
});

describe('a lease with an end', () => {
  it('is kept on the node of leases that end with it, and is released then', async () => {
    const { db } = api.services;
    await addHost(db, 4);
    await addHost(db, 4);
    const nodeOf = async (id: string) =>
      (await db.selectFrom('allocations').select('node_id').where('id', '=', id).executeTakeFirstOrThrow())
        .node_id;
    const short = (await launch(3, { max_duration_seconds: 3600 })).json();
    const long = (await launch(2, { max_duration_seconds: 86_400 })).json();
    expect(await nodeOf(long.id)).not.toBe(await nodeOf(short.id));
    // Best fit alone would fill the last slot beside the short one and keep that node in use for half a day.
    const between = (await launch(1, { max_duration_seconds: 43_200 })).json();
    expect(await nodeOf(between.id)).toBe(await nodeOf(long.id));

    const later = { now: () => new Date(new Date(short.ends_at).getTime() + 60_000) };
    await sql`update allocations set state = 'active' where id in (${short.id}, ${long.id})`.execute(db);
    await endLeases.run(
      { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: later },
      { from: later.now(), to: later.now() },
    );
    const states = await db
      .selectFrom('allocations')
      .select(['id', 'desired_state'])
      .where('id', 'in', [short.id, long.id])
      .execute();
    expect(Object.fromEntries(states.map((row) => [row.id, row.desired_state]))).toEqual({
      [short.id]: 'released',
      [long.id]: 'active',
    });
  });
});

describe('the last slot', () => {
  it('is leased once, and all other callers get the same documented refusal', async () => {
    for (let round = 0; round < 5; round += 1) {
      await addHost(api.services.db, 1);
      const answers = await Promise.all(Array.from({ length: 50 }, () => launch(1)));
      expect(answers.filter(({ statusCode }) => statusCode === 202)).toHaveLength(1);
      const refused = answers.filter(({ statusCode }) => statusCode !== 202);
      expect(new Set(refused.map((answer) => answer.json().code))).toEqual(new Set(['sku_unavailable']));
    }
    const defects = await claimDefects(api.services.db);
    expect(defects.filter((row) => (row as { state: string }).state !== 'disabled')).toEqual([]);
  });
});
