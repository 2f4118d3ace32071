import { endLeases } from '@gpuaas/control-plane/domains/allocations/leases/end-leases';
import { releaseClaim } from '@gpuaas/control-plane/domains/allocations/claims';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { warnBeforeLeaseEnd } from '@gpuaas/control-plane/domains/allocations/leases/warn-before-lease-end';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { domainGauges } from '@gpuaas/control-plane/roles/domain-gauges';
import { createMetrics } from '@gpuaas/control-plane/platform/telemetry/metrics';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { launchBody, type Allocation } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
/** Advances with `pass`; the queue runs by this clock. */
let ahead = 0;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  ahead = 0;
  await sql`update nodes set draining = true`.execute(api.services.db);
});
afterEach(async () => {
  for (const { id } of await allocations('queued')) await release('member', id);
  await sql`delete from node_promises`.execute(api.services.db);
  expect(await claimDefects(api.services.db)).toEqual([]);
  expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
});

const worker = (): PlatformServices => ({
  ...servicesAsRole(api.services, 'gpuaas_worker'),
  clock: { now: () => new Date(Date.now() + ahead) },
});
const pass = (minutes: number): void => void (ahead += minutes * 60_000);

async function ask(person: string, method: 'GET' | 'POST', path: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const url = `/api/v1/allocations${path}`;
  return await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
}

async function launch(gpus: number, more: object = {}, person = 'member') {
  const body = { ...launchBody(api.people[person]!.projectId!, gpus), when_unavailable: 'queue', ...more };
  return await ask(person, 'POST', '', body);
}

const launched = async (gpus: number, more: object = {}, person = 'member'): Promise<Allocation> => {
  const answer = await launch(gpus, more, person);
  expect(answer.statusCode, answer.body).toBe(202);
  return answer.json();
};
const show = async (id: string, person = 'member'): Promise<Allocation> =>
  (await ask(person, 'GET', `/${id}`)).json();
const release = (person: string, id: string) => ask(person, 'POST', `/${id}/release`);

async function allocations(state: Allocation['state']) {
  return await api.services.db
    .selectFrom('allocations')
    .select(['id', 'state'])
    .where('state', '=', state)
    .execute();
}

/** As if its machine had been released and its slots wiped. */
async function giveBack(id: string): Promise<void> {
  const { db } = api.services;
  const claims = await db
    .selectFrom('allocation_resource_claims')
    .select('slot_id')
    .where('allocation_id', '=', id)
    .where('released_at', 'is', null)
    .execute();
  await db.transaction().execute(async (tx) => {
    await sql`alter table node_resource_slots disable trigger slots_need_wipe`.execute(tx);
    for (const { slot_id } of claims) {
      await releaseClaim(tx, id, slot_id!, new Date());
      await sql`update node_resource_slots set state = 'available' where id = ${slot_id}`.execute(tx);
    }
    await sql`alter table node_resource_slots enable trigger slots_need_wipe`.execute(tx);
    await sql`update allocations set state = 'released', desired_state = 'released' where id = ${id}`.execute(
      tx,
    );
  });
}

describe('a launch that finds no room', () => {
  it('fails immediately unless it asked to queue', async () => {
    expect((await launch(1, { when_unavailable: 'fail' })).json()).toMatchObject({ code: 'sku_unavailable' });
  });

  it('is queued with its position, and starts automatically at its quoted price', async () => {
    const queued = await launched(4, { max_duration_seconds: 3600 });
    expect(queued).toMatchObject({
      state: 'queued',
      ends_at: null,
      queue: { position: null, reason: 'not_looked_at' },
    });
    await runQueue(worker());
    expect((await show(queued.id)).queue).toMatchObject({
      position: 1,
      reason: 'capacity',
      detail: 'No single node has 4 free GPUs for it.',
    });
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(1);
    const started = await show(queued.id);
    expect(started).toMatchObject({ state: 'reserved', queue: null, quote: queued.quote });
    expect(Date.parse(started.ends_at!)).toBeGreaterThan(Date.now() + 3_500_000);
    const { items } = (await ask('member', 'GET', `/${queued.id}/timeline`)).json();
    expect(items.map((entry: { stage: string }) => entry.stage)).toEqual(['queue', 'placement']);
  });

  it('says when a node may have room', async () => {
    await addHost(api.services.db);
    const lease = await launched(8, { max_duration_seconds: 7200 });
    const queued = await launched(2);
    await runQueue(worker());
    const { queue } = await show(queued.id);
    expect(Math.abs(Date.parse(queue!.expected_at!) - Date.parse(lease.ends_at!))).toBeLessThan(1000);
  });

  it('leaves the line when its tenant releases it, and when it has waited as long as it may', async () => {
    const cancelled = await launched(1);
    expect((await release('member', cancelled.id)).json()).toMatchObject({ state: 'released', queue: null });
    const expiring = await launched(1);
    pass(24 * 60 + 1);
    await runQueue(worker());
    expect(await show(expiring.id)).toMatchObject({ state: 'failed', failure: { code: 'queue_expired' } });
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(0);
  });

  it('is refused when the project has too many queued launches', async () => {
    const answers = [];
    for (let index = 0; index < 21; index += 1) answers.push(await launch(1));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array<number>(20).fill(202), 409]);
    expect(answers.at(-1)!.json()).toMatchObject({ code: 'queue_full', limit: 20 });
  });

  it('does not start over a quota, and does not hold up others', async () => {
    const { organizationId, projectId } = api.people['member']!;
    const first = await launched(2);
    const other = await launched(2, {}, 'other');
    await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
      values (${organizationId}, 'project', ${projectId}, 'allocations', '', 'platform', 0)`.execute(
      api.services.db,
    );
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(first.id)).queue).toMatchObject({ reason: 'quota' });
    expect(await show(other.id, 'other')).toMatchObject({ state: 'reserved' });
    await sql`delete from quota_limits`.execute(api.services.db);
    expect(await runQueue(worker())).toBe(1);
  });
});

describe('money', () => {
  it('is asked for again when the turn comes: without it the launch waits on, and others pass', async () => {
    const mine = await launched(1);
    const theirs = await launched(1, {}, 'other');
    const { organizationId } = api.people['member']!;
    const adjust = async (micros: number) => {
      const answer = await api.server.inject({
        method: 'POST',
        url: `/api/v1/admin/tenants/${organizationId}/ledger-adjustments`,
        headers: { authorization: `Bearer ${api.people['operator']!.apiKey}` },
        payload: { kind: 'adjustment', amount: { currency: 'USD', micros }, reason: 'For the test' },
      });
      expect(answer.statusCode, answer.body).toBe(201);
    };
    const balance = await api.server.inject({
      url: `/api/v1/billing/balance?organization_id=${organizationId}`,
      headers: { authorization: `Bearer ${api.people['admin']!.apiKey}` },
    });
    const { micros } = balance.json<{ balances: { micros: number }[] }>().balances[0]!;
    await adjust(-micros);
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(theirs.id, 'other')).state).toBe('reserved');
    expect((await show(mine.id)).queue).toMatchObject({
      reason: 'money',
      detail: expect.stringContaining('The balance must cover'),
    });
    await adjust(micros);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(mine.id)).state).toBe('reserved');
  });

  it('of a budget that is used up by then holds it back too', async () => {
    const queued = await launched(1);
    const { organizationId, projectId } = api.people['member']!;
    const { db } = api.services;
    const running = await seedAllocation(db, api.people['member']!);
    await sql`update allocations set active_at = now() - interval '1 hour' where id = ${running}`.execute(db);
    await db.transaction().execute(async (tx) => {
      const lease = tx.selectFrom('allocations').selectAll().where('id', '=', running);
      await startMeter(tx, await lease.executeTakeFirstOrThrow());
    });
    const budget = async (method: 'PUT' | 'DELETE', url: string, payload?: object) => {
      const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
      return await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
    };
    const made = await budget('PUT', '/api/v1/billing/budgets', {
      organization_id: organizationId,
      scope_type: 'project',
      scope_id: projectId,
      monthly: { currency: 'USD', micros: 1 },
      thresholds: [],
      at_cap: 'refuse',
    });
    expect(made.statusCode, made.body).toBeLessThan(300);
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(0);
    expect((await show(queued.id)).queue).toMatchObject({ reason: 'money', position: 1 });
    await budget('DELETE', `/api/v1/billing/budgets/${made.json<{ id: string }>().id}`);
    await sql`delete from allocation_meters where allocation_id = ${running}`.execute(db);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(queued.id)).state).toBe('reserved');
  });
});

describe('a queue position', () => {
  it('is published live only when it changes, and not on the timeline', async () => {
    const [first, second] = [await launched(8), await launched(8)];
    await runQueue(worker());
    await runQueue(worker());
    expect(await queueMessages(second.id)).toEqual([expect.stringMatching(/^Number 2 in the queue/)]);
    await release('member', first.id);
    await runQueue(worker());
    expect((await queueMessages(second.id)).at(-1)).toMatch(/^Number 1 in the queue/);
    expect(await queueMessages(second.id)).toHaveLength(2);
    const { items } = (await ask('member', 'GET', `/${second.id}/timeline`)).json();
    expect(items.map((entry: { stage: string }) => entry.stage)).toEqual(['queue']);
    const metrics = createMetrics(
      servicesAsRole(api.services, 'gpuaas_worker').database,
      api.services.log,
      domainGauges,
    );
    const text = await metrics.render();
    metrics.stop();
    expect(text).toContain('gpuaas_queued_launches{reason="capacity"} 1');
    expect(text).toMatch(/gpuaas_queued_launch_oldest_age_seconds\{reason="capacity"\} \d/);
  });

  it('is no longer taken by one that an operator ended', async () => {
    const { id } = await launched(1);
    const answer = await api.server.inject({
      method: 'POST',
      url: `/api/v1/admin/allocations/${id}/force-release`,
      headers: { authorization: `Bearer ${api.people['operator']!.apiKey}` },
      payload: { reason: 'not wanted' },
    });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(await show(id)).toMatchObject({ state: 'failed', queue: null });
    const { rows } = await sql`select from queued_launches where allocation_id = ${id}`.execute(
      api.services.db,
    );
    expect(rows).toEqual([]);
  });

  async function queueMessages(allocationId: string): Promise<string[]> {
    const { rows } = await sql<{ message: string }>`select payload ->> 'message' as message from outbox_events
      where subject_id = ${allocationId} and event_type = 'allocation.queue_moved' order by position`.execute(
      api.services.db,
    );
    return rows.map(({ message }) => message);
  }
});

describe('a turn', () => {
  it('locked by another worker is not waited for with a connection', async () => {
    await launched(1);
    await api.services.db.transaction().execute(async (other) => {
      await sql`select pg_advisory_xact_lock(4872021)`.execute(other);
      expect(await runQueue(worker())).toBeNull();
    });
    expect(await runQueue(worker())).toBe(0);
  });

  it('starts every launch that fits, reading the queue once', async () => {
    for (let index = 0; index < 16; index += 1) await launched(1, {}, index % 2 === 0 ? 'member' : 'other');
    await addHost(api.services.db);
    await addHost(api.services.db);
    expect(await runQueue(worker())).toBe(16);
  });
});

describe('the line', () => {
  it('goes by what tenants have, then by age', async () => {
    const mine = [await launched(8), await launched(8)];
    const theirs = await launched(8, {}, 'other');
    await addHost(api.services.db);
    await runQueue(worker());
    const first = await heldBy();
    await addHost(api.services.db);
    await runQueue(worker());
    // Whichever tenant started first, the next turn is the other's.
    expect(new Set([first, await heldBy()]).size).toBeGreaterThan(1);
    await addHost(api.services.db);
    await runQueue(worker());
    for (const { id } of mine) expect((await show(id)).state).toBe('reserved');
    expect((await show(theirs.id, 'other')).state).toBe('reserved');

    async function heldBy(): Promise<string> {
      const { rows } = await sql<{
        who: string;
      }>`select string_agg(organization_id::text, ' ' order by id) as who
        from allocations where state = 'reserved' and gpu_count = 8 and id in (${mine[0]!.id}, ${mine[1]!.id}, ${theirs.id})`.execute(
        api.services.db,
      );
      return rows[0]!.who;
    }
  });

  it('holds a node for a launch that waited long, and small ones no longer overtake it there', async () => {
    await addHost(api.services.db);
    const small = [await launched(4), await launched(4)];
    const large = await launched(8);
    await giveBack(small[0]!.id);
    await runQueue(worker());
    const passing = await launched(2, { when_unavailable: 'fail' });
    expect(passing.state).toBe('reserved');
    pass(16);
    await runQueue(worker());
    expect((await launch(2, { when_unavailable: 'fail' })).json()).toMatchObject({
      code: 'sku_unavailable',
      reasons: expect.arrayContaining([expect.objectContaining({ filter: 'not_promised' })]),
    });
    const behind = await launched(1);
    await giveBack(small[1]!.id);
    expect(await runQueue(worker())).toBe(0);
    await giveBack(passing.id);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(large.id)).state).toBe('reserved');
    expect((await show(behind.id)).state).toBe('queued');
    const { rows } = await sql`select from node_promises where allocation_id = ${large.id}`.execute(
      api.services.db,
    );
    expect(rows).toEqual([]);
  });

  it('holds a node for a launch that waited long, also behind one that no node can serve', async () => {
    await addHost(api.services.db, 4);
    const small = [await launched(2), await launched(2)];
    const tooLarge = await launched(8);
    const large = await launched(4);
    await giveBack(small[0]!.id);
    pass(16);
    await runQueue(worker());
    expect((await launch(2, { when_unavailable: 'fail' })).json()).toMatchObject({
      code: 'sku_unavailable',
      reasons: expect.arrayContaining([expect.objectContaining({ filter: 'not_promised' })]),
    });
    await giveBack(small[1]!.id);
    expect(await runQueue(worker())).toBe(1);
    expect((await show(large.id)).state).toBe('reserved');
    expect((await show(tooLarge.id)).state).toBe('queued');
    await giveBack(large.id);
  });

  it('keeps several nodes where there are many, the oldest first, and leaves the rest to others', async () => {
    const hosts = [];
    for (let host = 0; host < 8; host += 1) hosts.push(await addHost(api.services.db, 4));
    const small = [];
    for (const _host of hosts) small.push(await launched(2), await launched(2));
    const large = [await launched(4), await launched(4), await launched(4)];
    pass(16);
    await runQueue(worker());
    await runQueue(worker());
    const promised = await api.services.db
      .selectFrom('node_promises')
      .select('allocation_id')
      .orderBy('allocation_id')
      .execute();
    expect(promised.map(({ allocation_id }) => allocation_id)).toEqual(
      large
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
    for (const { id } of small) await giveBack(id);
    expect(await runQueue(worker())).toBe(3);
    for (const { id } of large) await giveBack(id);
  });

  it('starts each launch once, with any number of workers, beside direct launches', async () => {
    const queued = [];
    for (let index = 0; index < 12; index += 1) {
      queued.push(await launched(1 + (index % 2), {}, index % 3 === 0 ? 'other' : 'member'));
    }
    await addHost(api.services.db);
    await addHost(api.services.db);
    const direct = Array.from({ length: 8 }, () => launch(1, { when_unavailable: 'fail' }));
    await Promise.all(Array.from({ length: 4 }, () => runQueue(worker())));
    const sold = (await Promise.all(direct)).filter(({ statusCode }) => statusCode === 202).length;
    await runQueue(worker());
    const { rows } = await sql<{ allocation_id: string; claims: number; gpus: number }>`
      select c.allocation_id, count(*)::integer as claims, min(a.gpu_count) as gpus
      from allocation_resource_claims c join allocations a on a.id = c.allocation_id
      where c.released_at is null and a.id = any(${queued.map(({ id }) => id)}::uuid[])
      group by c.allocation_id`.execute(api.services.db);
    for (const { claims, gpus } of rows) expect(claims).toBe(gpus);
    const { rows: slots } = await sql<{ taken: number }>`
      select count(*)::integer as taken from node_resource_slots s join nodes n on n.id = s.node_id
      where not n.draining and s.state = 'reserved'`.execute(api.services.db);
    expect(slots[0]!.taken).toBe(sold + rows.reduce((sum, { claims }) => sum + claims, 0));
    expect(slots[0]!.taken).toBe(16);
  });
});

describe('an agreed end', () => {
  it('can be moved within what the policy allows, and the claims move with it', async () => {
    await addHost(api.services.db);
    const lease = await launched(1, { max_duration_seconds: 3600 });
    const extended = await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 600 });
    expect(extended.statusCode, extended.body).toBe(200);
    const { ends_at, quote } = extended.json<Allocation>();
    expect(Date.parse(ends_at!) - Date.parse(lease.ends_at!)).toBe(600_000);
    expect(quote).toEqual(lease.quote);
    const claims = await api.services.db
      .selectFrom('allocation_resource_claims')
      .select('ends_at')
      .where('allocation_id', '=', lease.id)
      .execute();
    expect(claims.map((claim) => claim.ends_at?.toISOString())).toEqual([ends_at]);
    const refused = await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 31_536_000 });
    expect(refused.json()).toMatchObject({ code: 'extension_refused', longest_seconds: 31_536_000 });
    const open = await launched(1);
    expect(
      (await ask('member', 'POST', `/${open.id}/extend`, { additional_seconds: 60 })).json(),
    ).toMatchObject({
      code: 'extension_refused',
    });
    expect((await launch(1, { max_duration_seconds: 31_536_000 })).statusCode).toBe(202);
  });

  it('does not count the time in the queue', async () => {
    const year = 31_536_000;
    const lease = await launched(1, { max_duration_seconds: year - 600, when_unavailable: 'queue' });
    expect(lease.state).toBe('queued');
    await sql`update allocations set created_at = created_at - interval '2 days' where id = ${lease.id}`.execute(
      api.services.db,
    );
    await addHost(api.services.db);
    await runQueue(worker());
    const extended = await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 500 });
    expect(extended.statusCode, extended.body).toBe(200);
    const beyond = await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 200 });
    expect(beyond.json()).toMatchObject({ code: 'extension_refused', longest_seconds: year });
  });

  it('is announced once before it comes, again after it was moved, and then releases', async () => {
    await addHost(api.services.db);
    const lease = await launched(1, { max_duration_seconds: 7200 });
    await sql`update allocations set state = 'active' where id = ${lease.id}`.execute(api.services.db);
    const period = { at: new Date(), number: 0n } as never;
    const warnings = async (): Promise<number> => {
      await warnBeforeLeaseEnd.run(worker(), period);
      await warnBeforeLeaseEnd.run(worker(), period);
      const { items } = (await ask('member', 'GET', `/${lease.id}/timeline`)).json();
      return items.filter(({ event_type }: { event_type: string }) => event_type === 'allocation.ending')
        .length;
    };
    expect(await warnings()).toBe(0);
    pass(61);
    expect(await warnings()).toBe(1);
    await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 3600 });
    expect(await warnings()).toBe(1);
    pass(60);
    expect(await warnings()).toBe(2);
    pass(60);
    await endLeases.run(worker(), period);
    expect((await show(lease.id)).states.desired).toBe('released');
    expect(
      (await ask('member', 'POST', `/${lease.id}/extend`, { additional_seconds: 60 })).json(),
    ).toMatchObject({
      code: 'extension_refused',
    });
  });
});
