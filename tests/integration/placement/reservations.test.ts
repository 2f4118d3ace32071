import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBody, type Allocation } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

type Reservation = components['schemas']['Reservation'];

const HOUR = 3_600_000;
const at = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update nodes set draining = true`.execute(api.services.db);
  await sql`delete from node_promises`.execute(api.services.db);
  await sql`update capacity_reservations set cancelled_at = least(now(), starts_at)`.execute(api.services.db);
});

async function ask(person: string, method: 'GET' | 'POST', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  return await api.server.inject({ method, url: `/api/v1${url}`, headers, ...(payload ? { payload } : {}) });
}

const window = (from: number, to: number, more: object = {}) => ({
  project_id: api.people['member']!.projectId,
  sku: 'h200-sxm-slice',
  region: 'uae-north-1',
  node_count: 1,
  starts_at: at(from),
  ends_at: at(to),
  reason: 'training week',
  ...more,
});

const launch = (person: string, gpus: number, more: object = {}) =>
  ask(person, 'POST', '/allocations', { ...launchBody(api.people[person]!.projectId!, gpus), ...more });

describe('a reservation', () => {
  it('keeps its nodes only from leases of others that would overlap it', async () => {
    const { nodeId } = await addHost(api.services.db);
    const made = await ask('admin', 'POST', '/reservations', window(5, 8));
    expect(made.statusCode, made.body).toBe(201);
    expect(made.json()).toMatchObject({ state: 'upcoming', node_count: 1, gpus_used: 0, nodes: null });
    const { items } = (await ask('operator', 'GET', '/admin/reservations')).json();
    expect(items[0]).toMatchObject({ id: made.json().id, nodes: [{ node_id: nodeId }] });

    const explain = async (person: string) => {
      const { image: _, ...asked } = launchBody(api.people[person]!.projectId!, 1);
      return (await ask(person, 'POST', '/placements/explain', asked)).json<{ fits: boolean }>().fits;
    };
    expect([await explain('member'), await explain('other')]).toEqual([true, false]);
    const refused = (await launch('other', 1)).json();
    expect(refused).toMatchObject({
      code: 'sku_unavailable',
      reasons: [{ filter: 'not_promised', reason: 'promised to somebody else for part of the time' }],
    });
    expect((await launch('other', 1, { max_duration_seconds: 6 * 3600 })).json().code).toBe(
      'sku_unavailable',
    );
    const before = await launch('other', 1, { max_duration_seconds: 3600 });
    expect(before.statusCode).toBe(202);
    const extend = (seconds: number) =>
      ask('other', 'POST', `/allocations/${before.json<Allocation>().id}/extend`, {
        additional_seconds: seconds,
      });
    expect((await extend(3600)).statusCode).toBe(200);
    expect((await extend(4 * 3600)).json()).toMatchObject({
      code: 'extension_refused',
      latest_end: expect.any(String),
    });
    expect((await launch('member', 2)).statusCode).toBe(202);
    const mine = `/reservations?project_id=${api.people['member']!.projectId}`;
    expect((await ask('member', 'GET', mine)).json().items[0]).toMatchObject({ gpus_used: 2, nodes: null });
    expect(await claimDefects(api.services.db)).toEqual([]);
  });

  it('is used first by launches of its project while it lasts', async () => {
    const [one, two] = [await addHost(api.services.db), await addHost(api.services.db)];
    await ask('admin', 'POST', '/reservations', window(0, 8));
    const { items } = (await ask('operator', 'GET', '/admin/reservations')).json<{ items: Reservation[] }>();
    const kept = items[0]!.nodes![0]!.node_id;
    expect([one.nodeId, two.nodeId]).toContain(kept);
    // A node in use would be filled first otherwise.
    expect((await launch('other', 4)).statusCode).toBe(202);
    const { id } = (await launch('member', 1)).json<Allocation>();
    const row = await api.services.db
      .selectFrom('allocations')
      .select('node_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.node_id).toBe(kept);
  });

  it('is refused where others hold the nodes in that time, and says how many there are', async () => {
    await addHost(api.services.db);
    await addHost(api.services.db);
    await launch('other', 1);
    const two = await ask('operator', 'POST', '/admin/reservations', window(1, 2, { node_count: 2 }));
    expect(two.json()).toMatchObject({ code: 'reservation_unavailable', available_nodes: 1 });
    const one = await ask('operator', 'POST', '/admin/reservations', window(1, 2));
    expect(one.statusCode, one.body).toBe(201);
    const again = await ask('operator', 'POST', '/admin/reservations', window(1.5, 3));
    expect(again.json()).toMatchObject({ code: 'reservation_unavailable', available_nodes: 0 });
    const later = await ask('operator', 'POST', '/admin/reservations', window(3, 4));
    expect(later.statusCode, later.body).toBe(201);
  });

  it('needs the permission, the limit and a future period', async () => {
    for (let host = 0; host < 3; host += 1) await addHost(api.services.db);
    expect((await ask('member', 'POST', '/reservations', window(1, 2))).json().code).toBe('forbidden');
    expect((await ask('other', 'POST', '/reservations', window(1, 2))).statusCode).toBe(404);
    const many = window(1, 2, { node_count: 3 });
    expect((await ask('admin', 'POST', '/reservations', many)).json()).toMatchObject({
      code: 'reservation_refused',
      limit: 2,
    });
    expect((await ask('operator', 'POST', '/admin/reservations', many)).statusCode).toBe(201);
    for (const [from, to] of [
      [2, 1],
      [-2, -1],
      [1, 24 * 40],
    ] as const) {
      expect((await ask('operator', 'POST', '/admin/reservations', window(from, to))).json().code).toBe(
        'reservation_refused',
      );
    }
  });

  it('can be cancelled, once or twice, and its nodes are free again', async () => {
    await addHost(api.services.db);
    const { id } = (await ask('admin', 'POST', '/reservations', window(0, 2))).json<Reservation>();
    expect((await launch('other', 1)).json().code).toBe('sku_unavailable');
    expect((await ask('other', 'POST', `/reservations/${id}/cancel`)).statusCode).toBe(404);
    for (let time = 0; time < 2; time += 1) {
      expect((await ask('admin', 'POST', `/reservations/${id}/cancel`)).json()).toMatchObject({
        state: 'cancelled',
      });
    }
    expect((await launch('other', 1)).statusCode).toBe(202);
  });

  it('is not broken by a conversion of its host: that waits for its end, or for who cancels it', async () => {
    const { nodeId } = await addHost(api.services.db);
    const { id, ends_at } = (await ask('admin', 'POST', '/reservations', window(1, 2))).json<Reservation>();
    const convert = () =>
      ask('operator', 'POST', `/admin/nodes/${nodeId}/convert`, { mode: 'baremetal', reason: 'demand' });
    expect((await convert()).json()).toMatchObject({ code: 'node_in_use', reserved_until: ends_at });
    await ask('operator', 'POST', `/admin/reservations/${id}/cancel`);
    expect((await convert()).statusCode).toBe(202);
  });

  it('and launches of others at the same moment never both get a node', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { nodeId } = await addHost(api.services.db);
      const [reserved, ...sold] = await Promise.all([
        ask('operator', 'POST', '/admin/reservations', window(0, 2)),
        ...Array.from({ length: 4 }, () => launch('other', 1)),
      ]);
      const claims = await api.services.db
        .selectFrom('allocation_resource_claims')
        .select('id')
        .where('node_id', '=', nodeId)
        .execute();
      expect(claims).toHaveLength(sold.filter(({ statusCode }) => statusCode === 202).length);
      if (reserved.statusCode === 201) expect(claims).toHaveLength(0);
      else expect(reserved.json().code).toBe('reservation_unavailable');
      await sql`update nodes set draining = true`.execute(api.services.db);
    }
  });
});
