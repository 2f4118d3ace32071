import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { requireInProject, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { InstanceRow } from './record-event.ts';

/** An instance the caller may act on; anything else looks like a missing one. */
export async function findInstance(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  instanceId: string,
): Promise<InstanceRow> {
  const row = await tx
    .selectFrom('app_instances')
    .selectAll()
    .where('id', '=', instanceId)
    .executeTakeFirst();
  return requireInProject(caller, permission, row);
}
