import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { releaseClaim } from '@gpuaas/control-plane/domains/allocations/claims';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { watchQuotas } from '@gpuaas/control-plane/domains/quotas/watch-quotas';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import { withBearer, type Schemas } from '../../harness/tenancy.ts';

const GPU_MODEL = 'H200-SXM-141GB';
const PRICE = 2_990_000;

let api: TestApi;
let projectId: string;
let organizationId: string;
beforeAll(async () => {
  api = await createTestApi();
  ({ projectId, organizationId } = api.people['member'] as { projectId: string; organizationId: string });
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
  for (let host = 0; host < 4; host += 1) await addHost(api.services.db, 8);
});
afterAll(() => api?.stop());
afterEach(async () => {
  await endEveryClaim();
  await sql`delete from quota_limits`.execute(api.services.db);
  expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
  expect(await usage()).toEqual({});
});

function launch(gpus: number, person = 'member') {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const payload = launchBody(projectId, gpus);
  return api.server.inject({ method: 'POST', url: '/api/v1/allocations', headers, payload });
}

async function limit(
  holderType: 'project' | 'user',
  holderId: string,
  measure: string,
  unit: string,
  amount: number,
): Promise<void> {
  await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${organizationId}, ${holderType}, ${holderId}, ${measure}, ${unit}, 'platform', ${amount})`.execute(
    api.services.db,
  );
}

async function userOf(person: string): Promise<string> {
  const { email } = api.people[person]!;
  const row = await api.services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return row.id;
}

/** The project's usage, without zeros. */
async function usage(): Promise<Record<string, number>> {
  const { rows } = await sql<{ key: string; used: string }>`
    select measure || ' ' || unit as key, used from quota_usage
    where holder_id = ${projectId} and used > 0`.execute(api.services.db);
  return Object.fromEntries(rows.map(({ key, used }) => [key.trim(), Number(used)]));
}

async function liveClaims(allocationId?: string) {
  return await api.services.db
    .selectFrom('allocation_resource_claims')
    .select(['allocation_id', 'slot_id'])
    .where('released_at', 'is', null)
    .$if(allocationId !== undefined, (q) => q.where('allocation_id', '=', allocationId!))
    .execute();
}

async function endClaim(allocationId: string, slotId: string): Promise<void> {
  const { db, clock } = servicesAsRole(api.services, 'gpuaas_worker');
  await db.transaction().execute((tx) => releaseClaim(tx, allocationId, slotId, clock.now()));
}

/** Gives everything back; the slots become free for the next test, as if wiped. */
async function endEveryClaim(): Promise<void> {
  for (const claim of await liveClaims()) await endClaim(claim.allocation_id, claim.slot_id!);
  await sql`alter table node_resource_slots disable trigger slots_need_wipe`.execute(api.services.db);
  await sql`update node_resource_slots set state = 'available'`.execute(api.services.db);
  await sql`alter table node_resource_slots enable trigger slots_need_wipe`.execute(api.services.db);
}

describe('a quota', () => {
  it.each([
    ['allocations', '', 7, 7],
    ['gpus', GPU_MODEL, 15, 7],
    ['spend_per_hour', 'USD', 14 * PRICE, 7],
  ])('of %s is exact under 50 concurrent launches', async (measure, unit, amount, winners) => {
    await limit('project', projectId, measure, unit, amount);
    const answers = await Promise.all(Array.from({ length: 50 }, () => launch(2)));
    expect(answers.filter(({ statusCode }) => statusCode === 202)).toHaveLength(winners);
    const refused = answers.filter(({ statusCode }) => statusCode !== 202).map((answer) => answer.json());
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['quota_exceeded']));
    expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
    expect(await usage()).toEqual({
      allocations: winners,
      [`gpus ${GPU_MODEL}`]: winners * 2,
      'spend_per_hour USD': winners * 2 * PRICE,
    });
  });

  it('names limit, used and asked when it refuses, and capacity is another refusal', async () => {
    await limit('project', projectId, 'gpus', GPU_MODEL, 3);
    expect((await launch(2)).statusCode).toBe(202);
    const refused = (await launch(2)).json();
    expect(refused).toMatchObject({
      code: 'quota_exceeded',
      detail: `The project has a quota of 3 × ${GPU_MODEL} and uses 2 × ${GPU_MODEL}; 2 × ${GPU_MODEL} more requested.`,
      exceeded: [
        {
          holder: { type: 'project', id: projectId },
          measure: 'gpus',
          unit: GPU_MODEL,
          limit: 3,
          used: 2,
          asked: 2,
          limit_set_by: 'platform',
        },
      ],
    });
    await sql`delete from quota_limits`.execute(api.services.db);
    await sql`update node_resource_slots set state = 'disabled' where state = 'available'`.execute(
      api.services.db,
    );
    expect((await launch(2)).json()).toMatchObject({ code: 'sku_unavailable' });
    // A launch that capacity refused holds nothing of the quota.
    expect(await usage()).toMatchObject({ allocations: 1 });
  });

  it('of a user counts only launches of that user', async () => {
    await limit('user', await userOf('member'), 'allocations', '', 1);
    expect((await launch(1)).statusCode).toBe(202);
    expect((await launch(1)).json()).toMatchObject({
      code: 'quota_exceeded',
      exceeded: [{ holder: { type: 'user' }, limit: 1, used: 1, asked: 1 }],
    });
    expect((await launch(1, 'admin')).statusCode).toBe(202);
  });

  it('comes back with each claim, and an allocation counts until its last one ends', async () => {
    const { id } = (await launch(4)).json<{ id: string }>();
    const [first, ...others] = await liveClaims(id);
    await endClaim(id, first!.slot_id!);
    expect(await usage()).toEqual({
      allocations: 1,
      [`gpus ${GPU_MODEL}`]: 3,
      'spend_per_hour USD': 4 * PRICE,
    });
    await Promise.all(others.map(({ slot_id }) => endClaim(id, slot_id!)));
    expect(await usage()).toEqual({});
  });
});

describe('limits', () => {
  const ask = (person: string, method: 'GET' | 'PUT', url: string, payload?: object) =>
    withBearer(api, api.people[person]!.apiKey).ask<Schemas['Quota'] & { items: Schemas['Quota'][] }>(
      method,
      url,
      payload,
    );
  const tenant = () => `/api/v1/organizations/${organizationId}/quotas`;
  const platform = () => `/api/v1/admin/tenants/${organizationId}/quotas`;
  const gpus = (amount?: number) => ({
    holder: { type: 'project', id: projectId },
    measure: 'gpus',
    unit: GPU_MODEL,
    ...(amount === undefined ? {} : { limit: amount }),
  });

  it('are set by platform and tenant, and the smaller one holds', async () => {
    expect((await ask('operator', 'PUT', platform(), gpus(4))).body).toMatchObject({
      limit: 4,
      limit_set_by: 'platform',
      used: 0,
    });
    expect((await ask('admin', 'PUT', tenant(), gpus(6))).body).toMatchObject({
      limit: 4,
      limit_set_by: 'platform',
      tenant_limit: 6,
    });
    expect((await ask('admin', 'PUT', tenant(), gpus(2))).body).toMatchObject({
      limit: 2,
      limit_set_by: 'tenant',
      platform_limit: 4,
    });
    expect((await launch(3)).json()).toMatchObject({
      code: 'quota_exceeded',
      exceeded: [{ limit: 2, used: 0, asked: 3, limit_set_by: 'tenant' }],
    });
    expect((await ask('admin', 'PUT', tenant(), gpus())).body).toMatchObject({ limit: 4 });
    expect((await launch(3)).statusCode).toBe(202);
    expect((await ask('operator', 'PUT', platform(), gpus())).body).toMatchObject({
      limit_set_by: 'policy',
      used: 3,
    });
  });

  it('are listed for every project and member, page by page', async () => {
    const seen: Schemas['Quota'][] = [];
    const caller = withBearer(api, api.people['admin']!.apiKey);
    let page: string | null = '';
    while (page !== null) {
      const query: string = page === '' ? '' : `&page=${page}`;
      const answer: { items: Schemas['Quota'][]; next_page: string | null } = await caller.get(
        `${tenant()}?limit=2${query}`,
      );
      seen.push(...answer.items);
      page = answer.next_page;
    }
    const named = seen.map(({ holder, measure, unit }) => `${holder.id} ${measure} ${unit}`);
    expect(new Set(named).size).toBe(named.length);
    const user = await userOf('member');
    for (const holder of [projectId, user]) {
      expect(named).toContain(`${holder} allocations null`);
      expect(named).toContain(`${holder} gpus ${GPU_MODEL}`);
      expect(named).toContain(`${holder} spend_per_hour USD`);
    }
    const { body } = await ask('operator', 'GET', `${platform()}?limit=200`);
    expect(body.items).toHaveLength(seen.length);
    const { body: own } = await ask('admin', 'GET', `${tenant()}?holder_id=${user}`);
    expect(own.items.map(({ holder }) => holder.id)).toEqual(own.items.map(() => user));
  });

  it('are for admins, of their own tenant, and of what exists', async () => {
    expect((await ask('member', 'PUT', tenant(), gpus(1))).status).toBe(403);
    expect((await ask('other', 'GET', tenant())).status).toBe(404);
    const stranger = { ...gpus(1), holder: { type: 'project', id: api.people['other']!.projectId } };
    expect((await ask('admin', 'PUT', tenant(), stranger)).body).toMatchObject({ code: 'quota_unknown' });
    expect((await ask('admin', 'PUT', tenant(), { ...gpus(1), unit: 'Z9' })).body).toMatchObject({
      code: 'quota_unknown',
    });
  });

  it('stand in an explanation beside capacity, and never for it', async () => {
    await limit('project', projectId, 'gpus', GPU_MODEL, 2);
    const explain = (count: number) =>
      withBearer(api, api.people['member']!.apiKey).post<Schemas['PlacementExplanation']>(
        '/api/v1/placements/explain',
        { sku: 'h200-sxm-slice', gpu_count: count, region: 'uae-north-1', project_id: projectId },
      );
    expect(await explain(2)).toMatchObject({ fits: true, quota: { allows: true, exceeded: [] } });
    const over = await explain(3);
    expect(over).toMatchObject({ fits: true, quota: { allows: false } });
    expect(over.quota!.exceeded).toEqual((await launch(3)).json().exceeded);
  });
});

it('a counter that was written around is found, and the incident closes once it holds again', async () => {
  const services = servicesAsRole(api.services, 'gpuaas_worker');
  const period = { from: services.clock.now(), to: services.clock.now() };
  const open = () =>
    api.services.db
      .selectFrom('incidents')
      .select('summary')
      .where('type', '=', 'quota_drift')
      .where('resolved_at', 'is', null)
      .execute();
  await launch(1);
  await sql`update quota_usage set used = used + 1 where holder_id = ${projectId} and measure = 'gpus'`.execute(
    api.services.db,
  );
  await watchQuotas.run(services, period);
  expect(await open()).toHaveLength(1);
  expect(await verifyQuotas(api.services.db, 10)).toMatchObject([
    { holderId: projectId, counted: 2n, held: 1n },
  ]);
  await sql`update quota_usage set used = used - 1 where holder_id = ${projectId} and measure = 'gpus'`.execute(
    api.services.db,
  );
  await watchQuotas.run(services, period);
  expect(await open()).toEqual([]);
});
