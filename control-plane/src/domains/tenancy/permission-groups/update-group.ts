import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import type { PermissionGroupRow } from './describe-group.ts';
import { requireTenantPermissions } from './require-tenant-permissions.ts';

/** Changes a group for all of its holders; neither before nor after may it hold more than the caller does. */
export async function updateGroup(
  tx: Tx,
  caller: Caller,
  group: PermissionGroupRow,
  body: components['schemas']['UpdatePermissionGroup'],
): Promise<PermissionGroupRow> {
  const permissions = body.permissions ?? group.permissions;
  requireTenantPermissions(body.permissions ?? [], '/permissions');
  const scope = { kind: 'tenant', organizationId: group.organization_id } as const;
  requireHeldPermissions(caller, [...new Set([...group.permissions, ...permissions])], scope);
  const change = {
    name: body.name ?? group.name,
    description: body.description ?? group.description,
    permissions,
  };
  await rejectDuplicateName(change.name, () =>
    tx.updateTable('permission_groups').set(change).where('id', '=', group.id).execute(),
  );
  return { ...group, ...change };
}
