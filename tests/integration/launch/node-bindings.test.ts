import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import { openOlderDatabase } from '../../harness/older-database.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
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

describe('a database from before there were claims on whole nodes', () => {
  const olderDatabase = (rows: string) => openOlderDatabase('0040_reservations', rows);

  it('has its bindings turned into claims when it is migrated', async () => {
    const database = await olderDatabase(OLD_ROWS);
    try {
      const after = await migrate(database.url);
      expect(after.applied[0]).toBe('0041_node_bindings');
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const { rows } = await client.query(`
          select a.name, a.capacity_shape, c.claim_kind, c.node_id = a.node_id as same_node, c.released_at,
            (select count(*)::int from claim_cells l where l.node_id = a.node_id) as cells
          from allocations a left join allocation_resource_claims c on c.allocation_id = a.id order by a.name`);
        const shape = { capacity_shape: 'baremetal' };
        const nothing = { claim_kind: null, same_node: null, released_at: null, cells: 0 };
        expect(rows).toEqual([
          { name: 'ended', ...shape, ...nothing },
          {
            name: 'running',
            ...shape,
            claim_kind: 'node_exclusive',
            same_node: true,
            released_at: null,
            cells: 16,
          },
        ]);
      } finally {
        await client.end();
      }
    } finally {
      await database.end();
    }
  });

  it('in which two live leases name one node is not migrated: the error names the node, and it succeeds once one has ended', async () => {
    const contested = '00000000-0000-7000-8000-000000000011';
    const both = `update allocations set state = 'active', node_id = '${contested}'`;
    const database = await olderDatabase(`${OLD_ROWS}; ${both}`);
    try {
      await expect(migrate(database.url)).rejects.toThrow(
        new RegExp(`0041_node_bindings.sql failed: .*claim_cells.*\\(node_id, cell\\)=\\(${contested}, 0\\)`),
      );
      await runAsAdmin(database.url, `update allocations set state = 'released' where name = 'ended'`);
      expect((await migrate(database.url)).applied[0]).toBe('0041_node_bindings');
    } finally {
      await database.end();
    }
  });
});

/** As a platform of that time wrote them: two leases that name their node, one of them over. */
const OLD_ROWS = `
  insert into organizations (id, name) values ('00000000-0000-7000-8000-000000000001', 'old');
  insert into projects (id, organization_id, name)
    values ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001', 'old');
  insert into users (id, issuer, subject, email, name)
    values ('00000000-0000-7000-8000-000000000003', 'https://idp.example', 'old', 'old@example.com', 'Old');
  insert into nodes (id, hostname, region, pool, rack, node_family)
    select ('00000000-0000-7000-8000-00000000001' || n)::uuid, 'old-' || n, 'uae-north-1', 'p', 'r', 'hgx-h200'
    from generate_series(1, 2) n;
  insert into allocations (id, organization_id, project_id, name, sku, gpu_count, image, image_digest, region, state,
      node_id, currency, per_gpu_hour_micros, price_id, created_by, correlation_id)
    select ('00000000-0000-7000-8000-00000000002' || n)::uuid, '00000000-0000-7000-8000-000000000001',
      '00000000-0000-7000-8000-000000000002', case n when 1 then 'running' else 'ended' end, p.sku, 8, i.image, i.digest,
      p.region, case n when 1 then 'active' else 'released' end, ('00000000-0000-7000-8000-00000000001' || n)::uuid,
      p.currency, p.per_gpu_hour_micros, p.id, '00000000-0000-7000-8000-000000000003', gen_random_uuid()
    from generate_series(1, 2) n, (select * from sku_prices where sku = 'h200-sxm-slice' limit 1) p,
      (select * from images where digest is not null limit 1) i;
`;
