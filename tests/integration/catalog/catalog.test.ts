import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quoteProduct } from '@gpuaas/control-plane/domains/catalog/quote';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import { withBearer, type Schemas, type TestCaller } from '../../harness/tenancy.ts';

const SKU = 'h200-sxm-slice';
const REGION = 'uae-north-1';
const DAY = 86_400_000;

let api: TestApi;
let operator: TestCaller;
let member: TestCaller;
let organizationId: string;
let projectId: string;
beforeAll(async () => {
  api = await createTestApi();
  operator = withBearer(api, api.people['operator']!.apiKey);
  member = withBearer(api, api.people['member']!.apiKey);
  ({ organizationId, projectId } = api.people['member'] as { organizationId: string; projectId: string });
  await operator.ask('PATCH', `/api/v1/admin/skus/${SKU}`, { enabled: true });
  await addHost(api.services.db, 8);
});
afterAll(() => api?.stop());

const launch = (gpus = 1) =>
  member.ask<Schemas['Allocation'] & { code: string }>(
    'POST',
    '/api/v1/allocations',
    launchBody(projectId, gpus),
  );
const setPolicy = (name: string, value: unknown, tenant = '') =>
  operator.ask('PUT', `/api/v1/admin/policies/${name}${tenant && `?organization_id=${tenant}`}`, { value });
const skus = async (query = '') =>
  (await member.get<{ items: Schemas['Sku'][] }>(`/api/v1/skus${query}`)).items;

describe('prices', () => {
  const usd = (micros: number) => ({ currency: 'USD', micros });
  const price = (more: object) =>
    operator.ask<Schemas['Price'] & { code: string }>('POST', '/api/v1/admin/prices', {
      sku: SKU,
      region: REGION,
      per_gpu_hour: usd(2_500_000),
      ...more,
    });
  const quoteIn = async (days: number) => {
    const clock = { now: () => new Date(Date.now() + days * DAY) };
    const asked = { sku: SKU, gpuCount: 1, region: REGION, organizationId };
    return (await quoteProduct({ ...api.services, clock }, api.services.db, asked)).perGpuHour.micros;
  };

  it('take effect at their date, and what was launched before keeps its quote', async () => {
    const before = await launch();
    const tomorrow = new Date(Date.now() + DAY).toISOString();
    expect((await price({ effective_from: tomorrow })).status).toBe(201);
    expect(await quoteIn(0)).toBe(2_990_000n);
    expect(await quoteIn(2)).toBe(2_500_000n);
    expect((await price({ per_gpu_hour: usd(2_700_000) })).status).toBe(201);
    expect(await quoteIn(0)).toBe(2_700_000n);
    const kept = await member.get<Schemas['Allocation']>(`/api/v1/allocations/${before.body.id}`);
    expect(kept.quote.per_gpu_hour.micros).toBe(2_990_000);
    expect((await launch()).body.quote.per_gpu_hour.micros).toBe(2_700_000);
  });

  it('of the past can be edited by no role', async () => {
    expect((await price({ effective_from: '2026-02-01T00:00:00Z' })).body.code).toBe('price_in_past');
    const { items } = await operator.get<{ items: Schemas['Price'][] }>(`/api/v1/admin/prices?sku=${SKU}`);
    expect(items.map(({ effective_from }) => effective_from)).toEqual(
      items
        .map(({ effective_from }) => effective_from)
        .toSorted()
        .toReversed(),
    );
    const current = items.find(({ effective_from }) => new Date(effective_from) < new Date())!;
    const withdrawn = await operator.ask('DELETE', `/api/v1/admin/prices/${current.id}`);
    expect(withdrawn.body).toMatchObject({ code: 'price_in_effect' });
    const { db } = api.services;
    await expect(sql`update sku_prices set per_gpu_hour_micros = 1`.execute(db)).rejects.toThrow('is kept');
    await expect(sql`delete from sku_prices where id = ${current.id}`.execute(db)).rejects.toThrow('is kept');
    await expect(sql`truncate sku_prices cascade`.execute(db)).rejects.toThrow('append-only');
  });

  it('that have not taken effect can be withdrawn, and one date has one price', async () => {
    const effective_from = new Date(Date.now() + 9 * DAY).toISOString();
    const { body } = await price({ effective_from });
    expect((await price({ effective_from })).body.code).toBe('price_exists');
    expect((await operator.ask('DELETE', `/api/v1/admin/prices/${body.id}`)).status).toBe(204);
    expect(await quoteIn(10)).toBe(2_500_000n);
  });

  it('of a tenant hold for it alone, and a discount by policy comes off the list price', async () => {
    await setPolicy('prices.discount_basis_points', 1000, organizationId);
    expect(await quoteIn(0)).toBe(2_430_000n);
    expect((await skus(`?organization_id=${organizationId}`))[0]!.price_per_gpu_hour.micros).toBe(2_430_000);
    expect((await skus())[0]!.price_per_gpu_hour.micros).toBe(2_700_000);
    const tenantPrice = { organization_id: organizationId, per_gpu_hour: usd(1_000_000) };
    expect((await price(tenantPrice)).body).toMatchObject({
      code: 'price_change_unconfirmed',
      limit_percent: 25,
    });
    expect((await price({ ...tenantPrice, confirm_large_change: true })).status).toBe(201);
    expect(await quoteIn(0)).toBe(1_000_000n);
    expect((await launch()).body.quote.per_gpu_hour.micros).toBe(1_000_000);
    expect((await skus())[0]!.price_per_gpu_hour.micros).toBe(2_700_000);
    const other = withBearer(api, api.people['other']!.apiKey);
    expect((await other.ask('GET', `/api/v1/skus?organization_id=${organizationId}`)).status).toBe(404);
  });

  it('are for operators alone', async () => {
    const admin = withBearer(api, api.people['admin']!.apiKey);
    expect((await admin.ask('GET', '/api/v1/admin/prices')).status).toBe(403);
  });
});

describe('products', () => {
  it('of another model are data: created, priced, opened, and offered in the counts they allow', async () => {
    const sku = 'b200-sxm-slice';
    const body = {
      sku,
      display_name: 'B200 SXM slice',
      capacity_shape: 'gpu_slice',
      gpu_model: 'B200-SXM-192GB',
      gpus_total: 8,
      allowed_gpu_counts: [1, 2, 4, 16],
      resource_profile: { vcpu_per_gpu: 28, memory_gib_per_gpu: 96 },
    };
    const refused = await operator.ask('POST', '/api/v1/admin/skus', body);
    expect(refused.body).toMatchObject({ code: 'sku_invalid' });
    const made = await operator.ask('POST', '/api/v1/admin/skus', { ...body, allowed_gpu_counts: [1, 2, 4] });
    expect(made).toMatchObject({ status: 201, body: { enabled: false } });
    expect(
      (await operator.ask('POST', '/api/v1/admin/skus', { ...body, allowed_gpu_counts: [1] })).body,
    ).toMatchObject({
      code: 'name_taken',
    });
    await operator.ask('POST', '/api/v1/admin/prices', {
      sku,
      region: REGION,
      per_gpu_hour: { currency: 'USD', micros: 5_000_000 },
    });
    expect((await skus()).map((item) => item.sku)).not.toContain(sku);
    await operator.ask('PATCH', `/api/v1/admin/skus/${sku}`, { enabled: true, allowed_gpu_counts: [1, 4] });
    expect((await skus()).find((item) => item.sku === sku)).toMatchObject({
      allowed_gpu_counts: [1, 4],
      resource_profile: { vcpu_per_gpu: 28, memory_gib_per_gpu: 96 },
      availability: [
        {
          region: REGION,
          gpus_available: 0,
          by_gpu_count: [{ gpu_count: 1, available: 0 }, { gpu_count: 4 }],
        },
      ],
    });
  });

  it('of whole nodes are sold whole', async () => {
    const answer = await operator.ask('PATCH', '/api/v1/admin/skus/h200-sxm-baremetal', {
      allowed_gpu_counts: [4],
    });
    expect(answer.body).toMatchObject({ code: 'sku_invalid' });
  });

  it('show what is free in sums, never which device', async () => {
    await addHost(api.services.db, 6);
    const listed = await member.ask('GET', '/api/v1/skus');
    const [slice] = (listed.body as { items: Schemas['Sku'][] }).items.filter(({ sku }) => sku === SKU);
    const counts = new Map(
      slice!.availability[0]!.by_gpu_count.map(({ gpu_count, available }) => [gpu_count, available]),
    );
    expect(counts.get(6)).toBeGreaterThan(0);
    expect(counts.get(1)).toBe(slice!.availability[0]!.gpus_available);
    expect(listed.text).not.toMatch(/node_id|hostname|pci|serial|slot/i);
  });

  it('that are slices are off until the policy enables them, and the refusal says so', async () => {
    await setPolicy('catalog.slices_enabled', false);
    expect((await launch()).body).toMatchObject({
      code: 'slice_products_disabled',
      detail: expect.stringContaining('catalog.slices_enabled'),
    });
    expect(await skus()).toEqual([]);
    await setPolicy('catalog.slices_enabled', true);
    expect((await launch()).status).toBe(202);
  });

  it('are available to entitled tenants: by policy or by their own setting', async () => {
    const path = `/api/v1/admin/tenants/${organizationId}/sku-entitlements`;
    const own = async () =>
      (await skus(`?organization_id=${organizationId}`)).find(({ sku }) => sku === SKU)!.entitled;
    expect(await own()).toBe(true);
    await operator.ask('PUT', `${path}/${SKU}`, { entitled: false, reason: 'Not in the contract.' });
    expect((await launch()).body).toMatchObject({ code: 'sku_not_entitled' });
    expect(await own()).toBe(false);
    await setPolicy('catalog.entitled_by_default', false);
    await operator.ask('PUT', `${path}/${SKU}`, { entitled: true });
    expect((await launch()).status).toBe(202);
    const { items } = await operator.get<{ items: Schemas['SkuEntitlement'][] }>(path);
    expect(items).toContainEqual({ sku: SKU, entitled: true, source: 'tenant', reason: '' });
    expect(items).toContainEqual({
      sku: 'h200-sxm-baremetal',
      entitled: false,
      source: 'policy',
      reason: '',
    });
    expect((await operator.ask('DELETE', `${path}/${SKU}`)).body).toMatchObject({ entitled: false });
    expect((await launch()).body).toMatchObject({ code: 'sku_not_entitled' });
    await setPolicy('catalog.entitled_by_default', true);
  });
});

describe('regions', () => {
  it('start as coming, accept no launches until opened, and can be closed again', async () => {
    const region = 'eu-west-9';
    const made = await operator.ask('POST', '/api/v1/admin/regions', { region, display_name: 'EU West' });
    expect(made).toMatchObject({ status: 201, body: { status: 'coming' } });
    const shown = await member.get<{ items: Schemas['Region'][] }>('/api/v1/regions');
    expect(shown.items).toContainEqual({ region, display_name: 'EU West', status: 'coming' });
    const there = { ...launchBody(projectId, 1), region };
    const early = await member.ask('POST', '/api/v1/allocations', there);
    expect(early.body).toMatchObject({ code: 'region_unavailable' });
    await operator.ask('PATCH', `/api/v1/admin/regions/${region}`, { status: 'enabled' });
    expect((await member.ask('POST', '/api/v1/allocations', there)).body).toMatchObject({
      code: 'sku_unknown',
    });
    await operator.ask('PATCH', `/api/v1/admin/regions/${region}`, { status: 'coming' });
    expect((await member.ask('POST', '/api/v1/allocations', there)).body).toMatchObject({
      code: 'region_unavailable',
    });
  });
});

describe('images', () => {
  it('are launched from a blessed digest alone, and blessing takes its own right', async () => {
    const image = 'H200-ubuntu-26.04-gpuaas-slice';
    const digest = `sha256:${'ab'.repeat(32)}`;
    const body = { image, display_name: 'Ubuntu 26.04', kind: 'base', readiness_checks: ['nvidia_driver'] };
    const made = await operator.ask('POST', '/api/v1/admin/images', body);
    expect(made).toMatchObject({ status: 201, body: { digest: null } });
    const names = async () =>
      (await member.get<{ items: Schemas['Image'][] }>('/api/v1/images')).items.map((item) => item.image);
    expect(await names()).not.toContain(image);
    const from = { ...launchBody(projectId, 1), image };
    expect((await member.ask('POST', '/api/v1/allocations', from)).body).toMatchObject({
      code: 'image_unknown',
    });
    const blessing = { digest, reason: 'Built and scanned.' };
    expect((await member.ask('POST', `/api/v1/admin/images/${image}/bless`, blessing)).status).toBe(403);
    await operator.post(`/api/v1/admin/images/${image}/bless`, blessing);
    expect(await names()).toContain(image);
    const { body: launched } = await member.ask<Schemas['Allocation']>('POST', '/api/v1/allocations', from);
    const row = await api.services.db
      .selectFrom('allocations')
      .select('image_digest')
      .where('id', '=', launched.id)
      .executeTakeFirstOrThrow();
    expect(row.image_digest).toBe(digest);
    const kept = await api.services.db.selectFrom('image_blessings').selectAll().execute();
    expect(kept).toMatchObject([{ image, digest, reason: 'Built and scanned.' }]);
  });

  it('carry their readiness checks as data', async () => {
    const { items } = await member.get<{ items: Schemas['Image'][] }>('/api/v1/images');
    const cuda = items.find(({ kind }) => kind === 'cuda-dev')!;
    expect(cuda.readiness_checks).toEqual(['nvidia_driver', 'cuda_toolkit']);
    const path = `/api/v1/admin/images/${cuda.image}`;
    const { body } = await operator.ask('PATCH', path, { readiness_checks: ['cuda_toolkit'] });
    expect(body).toMatchObject({ readiness_checks: ['cuda_toolkit'] });
  });
});
