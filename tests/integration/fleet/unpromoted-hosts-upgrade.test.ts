import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { writeTenantRows } from '@gpuaas/control-plane/platform/db/testing/tenant-rows';
import { expect, it, onTestFinished } from 'vitest';
import { openOlderDatabase } from '../../harness/older-database.ts';
import { sql } from 'kysely';

const NEW_HOST = `insert into nodes (id, hostname, region, pool, rack, node_family)
  select gen_random_uuid(), 'new', region, 'p', 'r', 'f' from regions limit 1`;

it('hosts that were never promoted lose the mode that they were recorded with, the others keep theirs', async () => {
  const older = await openOlderDatabase('0250_measured_capacity', NEW_HOST);
  const { db, close } = openDatabase(older.url, { max: 1 });
  onTestFinished(async () => {
    await close();
    await older.end();
  });
  // The database of that release has none of the functions that its triggers call.
  await sql`set session_replication_role = replica`.execute(db);
  await writeTenantRows(db, 'sold');
  await sql`set session_replication_role = origin`.execute(db);
  await migrate(older.url);
  const nodes = await db.selectFrom('nodes').select(['hostname', 'mode']).orderBy('hostname').execute();
  expect(nodes).toEqual([
    { hostname: 'host-sold', mode: 'slice' },
    { hostname: 'new', mode: null },
  ]);
});
