import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import type { PermissionGroupRow } from './describe-group.ts';
import { requireTenantPermissions } from './require-tenant-permissions.ts';
import { resolveGroup } from './resolve-group.ts';

/** Creates a group with the named permissions, or with those of the group it is cloned from. */
export async function createGroup(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreatePermissionGroup'],
): Promise<PermissionGroupRow> {
  const { id: organizationId } = await findOrganization(tx, caller, 'access.manage', body.organization_id);
  const cloned = body.clone_of ? await resolveGroup(tx, organizationId, body.clone_of, '/clone_of') : null;
  const permissions = body.permissions ?? cloned?.permissions ?? [];
  requireTenantPermissions(permissions, '/permissions');
  requireHeldPermissions(caller, permissions, { kind: 'tenant', organizationId });
  return await rejectDuplicateName(body.name, () =>
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
