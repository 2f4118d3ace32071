import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { refusingTakenName } from '../name-taken.ts';
import { requireRights } from '../require-rights.ts';
import type { PermissionGroupRow } from './describe-group.ts';
import { requireTenantPermissions } from './known-permissions.ts';

/** Changes a group for all who hold it; neither before nor after may it hold more than the caller does. */
export async function updateGroup(
  tx: Tx,
  caller: Caller,
  group: PermissionGroupRow,
  body: components['schemas']['UpdatePermissionGroup'],
): Promise<PermissionGroupRow> {
  const permissions = body.permissions ?? group.permissions;
  requireTenantPermissions(body.permissions ?? [], '/permissions');
  const scope = { kind: 'tenant', organizationId: group.organization_id } as const;
  requireRights(caller, [...new Set([...group.permissions, ...permissions])], scope);
  const change = {
    name: body.name ?? group.name,
    description: body.description ?? group.description,
    permissions,
  };
  await refusingTakenName(change.name, () =>
    tx.updateTable('permission_groups').set(change).where('id', '=', group.id).execute(),
  );
  return { ...group, ...change };
}
