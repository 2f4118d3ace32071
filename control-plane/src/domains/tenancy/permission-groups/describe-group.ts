import type { Selectable } from 'kysely';
import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { PermissionGroups } from '../../../platform/db/generated/schema.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

export type PermissionGroupRow = Selectable<PermissionGroups>;
type PermissionGroup = components['schemas']['PermissionGroup'];

export function describeGroup(row: PermissionGroupRow): PermissionGroup {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'permission_group', row.id),
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    built_in: false,
    scope: 'project',
    permissions: row.permissions,
    created_at: row.created_at.toISOString(),
  };
}

/** Built-in groups that a tenant can grant. */
export const builtInGroups: readonly PermissionGroup[] = Object.entries(permissionGroups).flatMap(
  ([key, { scope, display_name, permissions }]) =>
    scope === 'platform'
      ? []
      : [
          {
            id: key,
            resource_name: null,
            organization_id: null,
            name: display_name,
            description: '',
            built_in: true,
            scope,
            permissions: [...permissions],
            created_at: null,
          },
        ],
);
