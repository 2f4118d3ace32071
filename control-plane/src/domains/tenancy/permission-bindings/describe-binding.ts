import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { isKeyOf } from '@gpuaas/contracts/typed-keys';
import type { Tx } from '../../../platform/db/database.ts';
import { projectResourceName, tenantResourceName } from '../../../platform/ids.ts';

type PermissionBinding = components['schemas']['PermissionBinding'];
type Holder = components['schemas']['Holder'];

export interface BindingRow {
  id: string;
  organization_id: string | null;
  project_id: string | null;
  user_id: string | null;
  team_id: string | null;
  service_account_id: string | null;
  permission_group: string | null;
  permission_group_id: string | null;
  own_group_name: string | null;
  own_group_permissions: string[] | null;
  created_at: Date;
}

/** Bindings, joined with the tenant's own group where they name one. */
export function selectBindings(tx: Tx) {
  return tx
    .selectFrom('permission_bindings as b')
    .leftJoin('permission_groups as g', 'g.id', 'b.permission_group_id')
    .select([
      'b.id',
      'b.organization_id',
      'b.project_id',
      'b.user_id',
      'b.team_id',
      'b.service_account_id',
      'b.permission_group',
      'b.permission_group_id',
      'g.name as own_group_name',
      'g.permissions as own_group_permissions',
      'b.created_at',
    ]);
}

export function describeBinding(row: BindingRow): PermissionBinding {
  const organizationId = row.organization_id!;
  return {
    id: row.id,
    resource_name:
      row.project_id === null
        ? tenantResourceName(organizationId, 'permission_binding', row.id)
        : projectResourceName(organizationId, row.project_id, 'permission_binding', row.id),
    organization_id: organizationId,
    project_id: row.project_id,
    scope: row.project_id === null ? 'tenant' : 'project',
    permission_group: row.permission_group ?? row.permission_group_id!,
    permission_group_name: row.own_group_name ?? builtInName(row.permission_group),
    holder: holderOf(row),
    created_at: row.created_at.toISOString(),
  };
}

function holderOf(row: BindingRow): Holder {
  if (row.user_id !== null) return { type: 'user', id: row.user_id };
  if (row.team_id !== null) return { type: 'team', id: row.team_id };
  return { type: 'service_account', id: row.service_account_id! };
}

function builtInName(key: string | null): string {
  return key !== null && isKeyOf(permissionGroups, key) ? permissionGroups[key].display_name : (key ?? '');
}

/** The permissions that a binding grants. */
export function permissionsOfBinding(row: BindingRow): readonly string[] {
  if (row.own_group_permissions) return row.own_group_permissions;
  const key = row.permission_group ?? '';
  return isKeyOf(permissionGroups, key) ? permissionGroups[key].permissions : [];
}
