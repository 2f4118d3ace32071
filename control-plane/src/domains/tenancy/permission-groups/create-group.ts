import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { refusingTakenName } from '../name-taken.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { requireRights } from '../require-rights.ts';
import type { PermissionGroupRow } from './describe-group.ts';
import { requireTenantPermissions } from './known-permissions.ts';
import { resolveGroup } from './resolve-group.ts';

/** A group with the permissions that are named, or those of the group it is cloned from. */
export async function createGroup(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreatePermissionGroup'],
): Promise<PermissionGroupRow> {
  const { id: organizationId } = await findOrganization(tx, caller, 'access.manage', body.organization_id);
  const cloned = body.clone_of ? await resolveGroup(tx, organizationId, body.clone_of, '/clone_of') : null;
  const permissions = body.permissions ?? cloned?.permissions ?? [];
  requireTenantPermissions(permissions, '/permissions');
  requireRights(caller, permissions, { kind: 'tenant', organizationId });
  return await refusingTakenName(body.name, () =>
    tx
      .insertInto('permission_groups')
      .values({
        id: newId(),
        organization_id: organizationId,
        name: body.name,
        description: body.description ?? '',
        permissions: [...permissions],
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}
