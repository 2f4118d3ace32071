import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { expect, it, onTestFinished } from 'vitest';
import { soldSlot } from '../../harness/fleet/sold-slot.ts';
import { openOlderDatabase } from '../../harness/older-database.ts';

const NEW_HOSTS = `insert into nodes (id, hostname, region, pool, rack, node_family, mode)
  select gen_random_uuid(), name, region, 'p', 'r', 'f', mode
  from (select region from regions limit 1) r,
    (values ('chosen', 'baremetal'), ('new', 'slice')) as hosts (name, mode)`;

it('hosts that were never promoted lose the mode that they were recorded with, the others keep theirs', async () => {
  const older = await openOlderDatabase(
    '0250_measured_capacity',
    `${soldSlot('{"vcpu": 1, "memory_gib": 1}')}; ${NEW_HOSTS}`,
  );
  const { db, close } = openDatabase(older.url, { max: 1 });
  onTestFinished(async () => {
    await close();
    await older.end();
  });
  await migrate(older.url);
  const nodes = await db.selectFrom('nodes').select(['hostname', 'mode']).orderBy('hostname').execute();
  expect(nodes).toEqual([
    { hostname: 'chosen', mode: 'baremetal' },
    { hostname: 'new', mode: null },
    { hostname: 'sold', mode: 'slice' },
  ]);
});
