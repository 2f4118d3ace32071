import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import type { PermissionGroupRow } from './describe-group.ts';

/**
 * Deletes a group and all of its bindings; the caller must be able to grant it. Tenant Admin is built in and
 * cannot be deleted.
 */
export async function deleteGroup(tx: Tx, caller: Caller, group: PermissionGroupRow): Promise<void> {
  const scope = { kind: 'tenant', organizationId: group.organization_id } as const;
  requireHeldPermissions(caller, group.permissions, scope);
  await tx.deleteFrom('permission_bindings').where('permission_group_id', '=', group.id).execute();
  await tx.deleteFrom('permission_groups').where('id', '=', group.id).execute();
}
