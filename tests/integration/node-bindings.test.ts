import { newId } from '@gpuaas/control-plane/platform/ids';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../benchmarks/seed-allocation.ts';
import { launchBody } from '../harness/allocations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost } from '../harness/fleet-rows.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
}, 120_000);
afterAll(() => api?.stop());

/** A row as an older platform wrote it: a node, and neither shape nor claims. */
async function bind(nodeId: string, state: string): Promise<string> {
  const { db } = api.services;
  const [id, like] = [newId(), await seedAllocation(db, api.people['member']!)];
  await sql`update allocations set state = 'released' where id = ${like}`.execute(db);
  await sql`insert into allocations (id, organization_id, project_id, name, sku, gpu_count, image, image_digest, region,
      state, node_id, currency, per_gpu_hour_micros, price_id, created_by, correlation_id)
    select ${id}, organization_id, project_id, 'old', sku, 8, image, image_digest, region, ${state}, ${nodeId}, currency,
      per_gpu_hour_micros, price_id, created_by, correlation_id from allocations where id = ${like}`.execute(
    db,
  );
  return id;
}

const backfill = async (): Promise<number> =>
  Number(
    (await sql<{ made: string }>`select claim_bound_nodes() as made`.execute(api.services.db)).rows[0]!.made,
  );

describe('allocations from before there were claims', () => {
  it('are baremetal, and their nodes are claimed once and not sold again', async () => {
    const { db } = api.services;
    const { nodeId } = await addHost(db);
    const id = await bind(nodeId, 'active');
    await bind((await addHost(db, 0)).nodeId, 'released');
    const shown = await api.server.inject({
      url: `/api/v1/allocations/${id}`,
      headers: { authorization: `Bearer ${api.people['member']!.apiKey}` },
    });
    expect(shown.json()).toMatchObject({ capacity_shape: 'baremetal' });
    expect(await backfill()).toBe(1);
    expect(await backfill()).toBe(0);
    const claims = await db.selectFrom('allocation_resource_claims').selectAll().execute();
    expect(claims).toMatchObject([{ allocation_id: id, node_id: nodeId, claim_kind: 'node_exclusive' }]);
    const cells = await sql`select cell from claim_cells where node_id = ${nodeId}`.execute(db);
    expect(cells.rows).toHaveLength(16);
    expect(await verifyQuotas(db, 10)).toEqual([]);
    const launch = await api.server.inject({
      method: 'POST',
      url: '/api/v1/allocations',
      headers: { authorization: `Bearer ${api.people['member']!.apiKey}` },
      payload: launchBody(api.people['member']!.projectId!, 1),
    });
    expect(launch.json()).toMatchObject({ code: 'sku_unavailable' });
  });
});
