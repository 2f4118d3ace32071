import { releaseLeases } from '@gpuaas/control-plane/domains/allocations/release/release-leases';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBody, type Allocation } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
  // The member has something already, so that the other tenant goes first.
  await addHost(api.services.db);
  await launched(8);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update nodes set draining = true`.execute(api.services.db);
});
afterEach(async () => {
  expect(await claimDefects(api.services.db)).toEqual([]);
});

const worker = (): PlatformServices => servicesAsRole(api.services, 'gpuaas_worker');

async function ask(person: string, method: 'GET' | 'POST', path: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const url = `/api/v1/allocations${path}`;
  return await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
}

async function launched(gpus: number, person = 'member'): Promise<Allocation> {
  const body = { ...launchBody(api.people[person]!.projectId!, gpus), when_unavailable: 'queue' };
  const answer = await ask(person, 'POST', '', body);
  expect(answer.statusCode, answer.body).toBe(202);
  return answer.json();
}
const show = async (id: string, person = 'member'): Promise<Allocation> =>
  (await ask(person, 'GET', `/${id}`)).json();

describe('a product that is closed to a queued tenant', () => {
  const sku = 'h200-sxm-slice';
  /** How to close it, and to open it again. */
  const closings: Record<string, (closed: boolean) => Promise<PlatformServices['policies'] | void>> = {
    'taken off the shelf': async (closed) => {
      await sql`update sku_catalog set enabled = ${!closed} where sku = ${sku}`.execute(api.services.db);
    },
    'in a region that was closed': async (closed) => {
      await sql`update regions set status = ${closed ? 'coming' : 'enabled'}
        where region = 'uae-north-1'`.execute(api.services.db);
    },
    'that the tenant may no longer buy': async (closed) => {
      const { organizationId } = api.people['member']!;
      await sql`insert into sku_entitlements (organization_id, sku, entitled)
        values (${organizationId}, ${sku}, ${!closed})
        on conflict (organization_id, sku) do update set entitled = excluded.entitled`.execute(
        api.services.db,
      );
    },
    'while slices are not sold': async (closed) => {
      const { policies } = api.services;
      if (!closed) return;
      return {
        ...policies,
        get: (key, scope) => (key === 'catalog.slices_enabled' ? (false as never) : policies.get(key, scope)),
        explain: (key, scope, own) => policies.explain(key, scope, own),
        refresh: () => policies.refresh(),
      };
    },
  };

  it.each(Object.entries(closings))(
    '%s: it waits on, and starts when it is sold again',
    async (_what, set) => {
      const queued = await launched(1);
      await addHost(api.services.db);
      const policies = (await set(true)) ?? api.services.policies;
      expect(await runQueue({ ...worker(), policies })).toBe(0);
      expect((await show(queued.id)).queue).toMatchObject({ reason: 'closed', position: 1 });
      await set(false);
      expect(await runQueue(worker())).toBe(1);
    },
  );
});

it('serves a tenant behind one that is no longer entitled', async () => {
  const mine = await launched(1);
  // Has less, so it goes first.
  const theirs = await launched(1, 'other');
  const { db } = api.services;
  const { organizationId } = api.people['other']!;
  await sql`insert into sku_entitlements (organization_id, sku, entitled)
    values (${organizationId}, 'h200-sxm-slice', false)`.execute(db);
  await runQueue(worker());
  expect((await show(theirs.id, 'other')).queue).toMatchObject({ reason: 'closed', position: 1 });
  await addHost(db);
  expect(await runQueue(worker())).toBe(1);
  expect(await show(mine.id)).toMatchObject({ state: 'reserved' });
  await sql`delete from sku_entitlements`.execute(db);
  await ask('other', 'POST', `/${theirs.id}/release`);
});

describe('leases that are ended for their money', () => {
  it('are those that cost something: a queued launch keeps waiting for its tenant to pay', async () => {
    const queued = await launched(1);
    const { organizationId } = api.people['member']!;
    const services = worker();
    await services.db
      .transaction()
      .execute((tx) =>
        releaseLeases(
          services,
          tx,
          { organizationId: organizationId!, currency: 'USD' },
          'Used up',
          'balance',
        ),
      );
    expect(await show(queued.id)).toMatchObject({ state: 'queued', states: { desired: 'active' } });
    await addHost(api.services.db);
    expect(await runQueue(services)).toBe(1);
  });
});
