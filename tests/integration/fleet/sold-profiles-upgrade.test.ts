import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { expect, it, onTestFinished } from 'vitest';
import { soldSlot } from '../../harness/fleet/sold-slot.ts';
import { openOlderDatabase } from '../../harness/older-database.ts';

it('claims from before they kept processors and memory get those of their slots', async () => {
  const older = await openOlderDatabase('0210_registry', soldSlot('{}'));
  const { db, close } = openDatabase(older.url, { max: 1 });
  onTestFinished(async () => {
    await close();
    await older.end();
  });
  await migrate(older.url);
  const { snapshot } = await db
    .selectFrom('allocation_resource_claims')
    .select('snapshot')
    .executeTakeFirstOrThrow();
  expect(snapshot).toEqual({ vcpu: 1, memory_gib: 1 });
  const change = db.updateTable('allocation_resource_claims').set({ snapshot: '{}' });
  await expect(change.execute()).rejects.toThrow(/snapshot/);
});
