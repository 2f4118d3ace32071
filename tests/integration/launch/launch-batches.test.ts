import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { EJECTED_CHANNEL, RETRIED_BATCHES_CHANNEL } from '@gpuaas/control-plane/platform/batcher';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';
import { newTenant, type Answer, type Schemas, type TestTenant } from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update node_resource_slots set state = 'disabled' where state = 'available'`.execute(
    api.services.db,
  );
});

function launch({ admin, projectId }: TestTenant, key = newId()): Promise<Answer<Schemas['Allocation']>> {
  return admin.ask('POST', '/api/v1/allocations', launchBody(projectId, 1), { 'x-idempotency-key': key });
}

/** How many transactions wrote these allocations. */
async function transactionsOf(ids: string[]): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(distinct xmin::text) from allocations
    where id = any(${ids}::uuid[])`.execute(api.services.db);
  return Number(rows[0]!.count);
}

it('concurrent launches of many tenants share transactions; each has its own response, audit row and key', async () => {
  const tenants = await Promise.all(Array.from({ length: 6 }, () => newTenant(api)));
  await addHost(api.services.db, 8);
  const keys = tenants.map(() => newId());
  const answers = await Promise.all(tenants.map((tenant, at) => launch(tenant, keys[at])));
  expect(answers.map(({ status }) => status)).toEqual(tenants.map(() => 202));
  const ids = answers.map(({ body }) => body.id);
  expect(await transactionsOf(ids)).toBeLessThan(tenants.length);
  for (const [at, tenant] of tenants.entries()) {
    const { body } = answers[at]!;
    expect(body).toMatchObject({ organization_id: tenant.organizationId, state: 'reserved' });
    const shown = await tenant.admin.get<Schemas['Allocation']>(`/api/v1/allocations/${body.id}`);
    const { states: _, ...lasting } = body;
    expect(shown).toMatchObject(lasting);
    expect((await launch(tenant, keys[at])).body).toEqual(body);
  }
  const { rows: audits } = await sql<{ organization_id: string }>`select organization_id from audit_logs
    where action = 'allocation.create' and result = 'succeeded' and target_id = any(${ids})
    order by target_id`.execute(api.services.db);
  expect(audits.length).toBe(tenants.length);
  expect(new Set(audits.map((row) => row.organization_id))).toEqual(
    new Set(tenants.map(({ organizationId }) => organizationId)),
  );
  expect(await claimDefects(api.services.db)).toEqual([]);
});

it('each launch requests its provisioning on the bus once, in its transaction, and not in the timeline', async () => {
  const tenant = await newTenant(api);
  const { nodeId } = await addHost(api.services.db, 2);
  const fast = await launch(tenant);
  // Sealed user-data keeps a launch off the fast path.
  const slow = await tenant.admin.ask<Schemas['Allocation']>('POST', '/api/v1/allocations', {
    ...launchBody(tenant.projectId, 1),
    user_data: '#cloud-config\n{}\n',
  });
  for (const { status, body } of [fast, slow]) {
    expect(status).toBe(202);
    const { rows } = await sql<{ payload: object }>`
      select e.payload from outbox_events e join allocations a on a.id = e.subject_id and a.xmin::text::xid8 = e.xid
      where e.subject_id = ${body.id} and e.event_type = 'provisioning.requested'`.execute(api.services.db);
    expect(rows).toEqual([
      {
        payload: {
          allocation_id: body.id,
          organization_id: tenant.organizationId,
          project_id: tenant.projectId,
          node_id: nodeId,
          capacity_shape: 'gpu_slice',
          gpu_count: 1,
          sku: body.sku,
          image: body.image,
          region: body.region,
        },
      },
    ]);
    const { items } = await tenant.admin.get<{ items: { event_type: string }[] }>(
      `/api/v1/allocations/${body.id}/timeline`,
    );
    expect(items.map(({ event_type }) => event_type)).toEqual(['allocation.reserved']);
  }
});

it('launches that find no room are refused by their group, and none is decided alone', async () => {
  const tenants = await Promise.all(Array.from({ length: 4 }, () => newTenant(api)));
  const left: unknown[] = [];
  const note = (message: unknown): void => void left.push(message);
  subscribe(EJECTED_CHANNEL, note);
  try {
    const answers = await Promise.all(tenants.map((tenant) => launch(tenant)));
    for (const { body } of answers)
      expect(body).toMatchObject({ code: 'sku_unavailable', requested_gpu_count: 1 });
    expect(left).toEqual([]);
  } finally {
    unsubscribe(EJECTED_CHANNEL, note);
  }
});

it('a caller in a batch finds nothing of the others: no project, no key, no response', async () => {
  const { db } = api.services;
  const [mine, theirs] = await Promise.all([newTenant(api), newTenant(api)]);
  await addHost(db, 8);
  const theirKey = newId();
  await sql`insert into ssh_keys (id, organization_id, project_id, name, type, public_key, fingerprint) values
    (${theirKey}, ${theirs.organizationId}, ${theirs.projectId}, 'k', 'ssh-ed25519', 'ssh-ed25519 AAAA', 'f')`.execute(
    db,
  );
  const ask = ({ admin }: TestTenant, projectId: string, key: string, more: object = {}) =>
    admin.ask(
      'POST',
      '/api/v1/allocations',
      { ...launchBody(projectId, 1), ...more },
      { 'x-idempotency-key': key },
    );
  const shared = newId();
  const [good, again, foreignProject, foreignKey] = await Promise.all([
    ask(theirs, theirs.projectId, shared, { ssh_key_ids: [theirKey] }),
    ask(mine, mine.projectId, shared),
    ask(mine, theirs.projectId, newId()),
    ask(mine, mine.projectId, newId(), { ssh_key_ids: [theirKey] }),
  ]);
  expect([good.status, again.status, foreignProject.status]).toEqual([202, 202, 404]);
  expect(good.body['organization_id']).toBe(theirs.organizationId);
  expect(again.body['organization_id']).toBe(mine.organizationId);
  expect(foreignKey.body).toMatchObject({ code: 'ssh_key_unknown' });
  expect((await ask(mine, mine.projectId, shared)).body).toEqual(again.body);
});

it('a project that is closed meanwhile affects no other launch in the batch', async () => {
  const { db } = api.services;
  const [closed, open] = await Promise.all([newTenant(api), newTenant(api)]);
  await addHost(db, 8);
  const pending = await db.transaction().execute(async (tx) => {
    await sql`select from projects where id = ${closed.projectId} for update`.execute(tx);
    await sql`update projects set deleted_at = now() where id = ${closed.projectId}`.execute(tx);
    const answers = [launch(closed), launch(open)];
    // The launch that can proceed does so although the other still waits for the closing transaction.
    expect((await answers[1]!).status).toBe(202);
    return { closing: answers[0]! };
  });
  expect((await pending.closing).status).toBe(404);
});

it('a launch that is not allowed by quota is refused by name, and those with it are not', async () => {
  const { db } = api.services;
  const [poor, rich] = await Promise.all([newTenant(api), newTenant(api)]);
  await addHost(db, 8);
  await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${poor.organizationId}, 'project', ${poor.projectId}, 'allocations', '', 'platform', 1)`.execute(
    db,
  );
  // A tenant with an earlier launch uses the fast path.
  for (const tenant of [poor, rich]) expect((await launch(tenant)).status).toBe(202);
  const [refused, sold] = await Promise.all([launch(poor), launch(rich)]);
  expect(refused.body).toMatchObject({
    code: 'quota_exceeded',
    exceeded: [{ measure: 'allocations', limit: 1, used: 1, asked: 1 }],
  });
  expect(sold.status).toBe(202);
  // Nothing was allocated, so the refusal is about the project.
  const audited = await db
    .selectFrom('audit_logs')
    .select(['target_type', 'target_id', 'detail'])
    .where('organization_id', 'is', null)
    .where('result', '=', 'refused')
    .where('actor_user_id', '=', poor.admin.userId)
    .execute();
  expect(audited).toEqual([
    { target_type: 'project', target_id: poor.projectId, detail: { code: 'quota_exceeded' } },
  ]);
  await expectAlongside(poor, rich);
});

/** A recently refused tenant does not fail others' batches again. */
async function expectAlongside(refused: TestTenant, rich: TestTenant): Promise<void> {
  const reconsidered: unknown[] = [];
  const note = (message: unknown): void => void reconsidered.push(message);
  subscribe(RETRIED_BATCHES_CHANNEL, note);
  try {
    const again = await Promise.all([launch(refused), launch(rich), launch(rich)]);
    expect(again.map(({ status }) => status)).toEqual([409, 202, 202]);
    expect(reconsidered).toEqual([]);
  } finally {
    unsubscribe(RETRIED_BATCHES_CHANNEL, note);
  }
}

async function setBalance(tenant: TestTenant, micros: number): Promise<void> {
  const [balance] = (
    await tenant.admin.get<Schemas['Balance']>(
      `/api/v1/billing/balance?organization_id=${tenant.organizationId}`,
    )
  ).balances;
  const adjusted = await api.server.inject({
    method: 'POST',
    url: `/api/v1/admin/tenants/${tenant.organizationId}/ledger-adjustments`,
    headers: { authorization: `Bearer ${api.people['operator']!.apiKey}` },
    payload: {
      kind: 'adjustment',
      amount: { currency: 'USD', micros: micros - balance!.micros },
      reason: 'For the test',
    },
  });
  expect(adjusted.statusCode).toBe(201);
}

it('a launch that the money covers does not read the leases of its tenant', async () => {
  const { db } = api.services;
  const tenant = await newTenant(api);
  await addHost(db, 8);
  // The first launch makes the counters, on the slow path.
  expect((await launch(tenant)).status).toBe(202);
  const { rows } = await sql<{ body: string }>`
    select pg_get_functiondef('committed_funds'::regproc) as body`.execute(db);
  const { body } = rows[0]!;
  await sql.raw(body.replace(/\bbegin\b/, `begin raise exception 'the leases are read';`)).execute(db);
  try {
    const answers = await Promise.all(Array.from({ length: 3 }, () => launch(tenant)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  } finally {
    await sql.raw(body).execute(db);
  }
});

it('a lease that is released frees its money before its slot, for launches and in the reasons of refusals', async () => {
  const { db } = api.services;
  const tenant = await newTenant(api);
  await addHost(db, 8);
  const [first, second] = [await launch(tenant), await launch(tenant)];
  const hour = first.body.quote.per_hour.micros;
  await sql`update allocations set state = 'active', active_at = now()
    where organization_id = ${tenant.organizationId}`.execute(db);
  await sql`update allocations set release_requested_at = now() where id = ${second.body.id}`.execute(db);
  await setBalance(tenant, 2 * hour);
  const left: unknown[] = [];
  const note = (message: unknown): void => void left.push(message);
  subscribe(EJECTED_CHANNEL, note);
  try {
    expect((await launch(tenant)).status).toBe(202);
    expect((await launch(tenant)).body).toMatchObject({
      code: 'balance_too_low',
      available: { micros: 2 * hour },
      kept_for_running_leases: { micros: hour },
      kept_for_launches_on_their_way: { micros: hour },
    });
    expect(left).toEqual([]);
  } finally {
    unsubscribe(EJECTED_CHANNEL, note);
  }
});

it('money is counted once: launches at the same time do not share the minimum balance of each other', async () => {
  const tenant = await newTenant(api);
  await addHost(api.services.db, 8);
  const { body } = await launch(tenant);
  const hour = body.quote.per_hour.micros;
  await setBalance(tenant, 4 * hour);
  // One launch is pending, so the funds cover three more, batched or individual.
  const answers = await Promise.all(Array.from({ length: 7 }, () => launch(tenant)));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
  for (const refused of answers.filter(({ status }) => status !== 202)) {
    expect(refused.body).toMatchObject({
      code: 'balance_too_low',
      available: { micros: 4 * hour },
      kept_for_launches_on_their_way: { micros: 4 * hour },
    });
  }
  const rich = await newTenant(api);
  // A tenant with an earlier launch uses the fast path.
  expect((await launch(rich)).status).toBe(202);
  await expectAlongside(tenant, rich);
});

it('an allocation cannot name what does not exist, and what is named cannot be deleted', async () => {
  const { db } = api.services;
  const tenant = await newTenant(api);
  await addHost(db, 8);
  const { id } = (await launch(tenant)).body;
  for (const column of ['sku', 'image', 'region'] as const) {
    const copy = sql`insert into allocations select (json_populate_record(a,
      json_build_object('id', ${newId()}::text, ${column}::text, 'nothing'))).* from allocations a where id = ${id}`;
    await expect(copy.execute(db)).rejects.toThrow('names something that does not exist');
  }
  for (const table of [
    'nodes',
    'node_resource_slots',
    'allocations',
    'projects',
    'users',
    'images',
    'regions',
  ]) {
    await expect(sql`delete from ${sql.table(table)}`.execute(db)).rejects.toThrow('are kept');
  }
});
