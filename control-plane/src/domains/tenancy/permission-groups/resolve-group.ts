import { permissionGroups, type PermissionGroup } from '@gpuaas/contracts/generated/permissions.ts';
import { isKeyOf } from '@gpuaas/contracts/typed-keys';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { isUuid } from '../../../platform/ids.ts';

/** A group that a tenant can grant: built-in by its key, or its own by id. */
export interface GrantableGroup {
  key: PermissionGroup | null;
  id: string | null;
  name: string;
  scope: 'tenant' | 'project';
  permissions: readonly string[];
}

/** The group that a request names; groups of the platform are not available to tenants. */
export async function resolveGroup(
  tx: Tx,
  organizationId: string,
  reference: string,
  pointer: string,
): Promise<GrantableGroup> {
  const group = builtIn(reference) ?? (await ownGroup(tx, organizationId, reference));
  if (group) return group;
  throw new Problem('permission_group_unknown', 'The organization has no such permission group.', {
    errors: [{ pointer, detail: 'is neither a built-in group nor one of the organization' }],
  });
}

function builtIn(key: string): GrantableGroup | null {
  if (!isKeyOf(permissionGroups, key)) return null;
  const { scope, display_name, permissions } = permissionGroups[key];
  if (scope === 'platform') return null;
  return { key, id: null, name: display_name, scope, permissions };
}

async function ownGroup(tx: Tx, organizationId: string, id: string): Promise<GrantableGroup | null> {
  if (!isUuid(id)) return null;
  const row = await tx
    .selectFrom('permission_groups')
    .select(['id', 'name', 'permissions'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row
    ? { key: null, id: row.id, name: row.name, scope: 'project', permissions: row.permissions }
    : null;
}

/** A group for whole tenants has no meaning at a single project. */
export function requireGroupScope(group: GrantableGroup, projectId: string | null): void {
  if (projectId === null || group.scope === 'project') return;
  throw new Problem('permission_group_scope_refused', `${group.name} is for the whole organization.`, {
    errors: [{ pointer: '/project_id', detail: 'leave it out' }],
  });
}
