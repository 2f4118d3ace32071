import type { Tx } from '../../../platform/db/database.ts';
import type { PermissionGroupRow } from './describe-group.ts';

/** Takes the group from all who hold it. Tenant Admin is built in and cannot go this way. */
export async function deleteGroup(tx: Tx, group: PermissionGroupRow): Promise<void> {
  await tx.deleteFrom('permission_bindings').where('permission_group_id', '=', group.id).execute();
  await tx.deleteFrom('permission_groups').where('id', '=', group.id).execute();
}
