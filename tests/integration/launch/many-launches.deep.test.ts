import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { launchAndRelease } from '../../harness/allocations/launch-and-release.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const COUNT = 1000;
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 2, speed: 0 });
}, 300_000);
afterAll(() => platform?.stop());

it('a thousand allocations are launched and released, eight at a time, and leave nothing but their proofs', async () => {
  const { seconds } = await launchAndRelease(platform, { count: COUNT, inFlight: 8 });
  console.log(`${(COUNT / seconds).toFixed(1)} launched and released a second`);
  const { db } = platform.services;
  const { rows } = await sql`
    select (select count(*)::int from allocations where state = 'released') as released,
      (select count(*)::int from allocations) as allocations,
      (select count(distinct allocation_id)::int from wipe_certificates where verified) as wiped,
      (select count(*)::int from claim_cells) as held,
      (select count(*)::int from node_resource_slots where state <> 'available') as not_for_sale,
      (select count(*)::int from node_tasks where state in ('queued', 'claimed')) as open_tasks,
      (select count(*)::int from allocation_access_keys) as keys,
      (select count(*)::int from incidents where resolved_at is null) as incidents`.execute(db);
  expect(rows[0]).toEqual({
    released: COUNT,
    allocations: COUNT,
    wiped: COUNT,
    held: 0,
    not_for_sale: 0,
    open_tasks: 0,
    keys: 0,
    incidents: 0,
  });
  expect(await verifyQuotas(db, 10)).toEqual([]);
}, 1_200_000);
