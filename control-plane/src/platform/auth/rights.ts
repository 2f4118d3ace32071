import { permissionGroups, permissions, type Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Binding } from './caller.ts';

/** A user or service account with its rights, as the statements below read them. */
export interface PrincipalRow {
  id: string;
  user_id: string | null;
  email: string;
  name: string;
  organizations: string[];
  bindings: BindingRow[];
}

interface BindingRow {
  group: string;
  /** Of a group that the tenant made; null for a built-in one. */
  permissions: string[] | null;
  scope: Binding['scope'];
  organizationId: string | null;
  projectId: string | null;
}

const bindingsWhere = (holder: string): string => `coalesce((
    select json_agg(json_build_object('group', coalesce(b.permission_group, g.name), 'permissions', g.permissions,
      'scope', b.scope, 'organizationId', b.organization_id, 'projectId', b.project_id))
    from permission_bindings b left join permission_groups g on g.id = b.permission_group_id
    where ${holder}), '[]')`;

/** Columns of a `PrincipalRow` for the user `u`: own bindings and those of teams, where the membership is active. */
export const USER_WITH_RIGHTS = `u.id, u.id as user_id, u.email, u.name,
  coalesce((select json_agg(m.organization_id) from organization_members m
    where m.user_id = u.id and m.state = 'active'), '[]') as organizations,
  ${bindingsWhere(`(b.user_id = u.id or b.team_id in (select t.team_id from team_members t where t.user_id = u.id))
      and (b.organization_id is null or exists (select from organization_members m
        where m.organization_id = b.organization_id and m.user_id = u.id and m.state = 'active'))`)} as bindings`;

/** The same for the service account `s`. */
export const SERVICE_ACCOUNT_WITH_RIGHTS = `s.id, null as user_id, '' as email, s.name,
  json_build_array(s.organization_id) as organizations, ${bindingsWhere('b.service_account_id = s.id')} as bindings`;

/**
 * What the bindings grant. A limited credential carries no more than its own scopes, and no more than its holder
 * has at this moment.
 */
export function grantedBindings(rows: readonly BindingRow[], scopes: readonly string[] | null): Binding[] {
  return rows.map((row) => ({
    ...row,
    permissions: permissionsOf(row).filter((permission) => scopes === null || scopes.includes(permission)),
  }));
}

function permissionsOf({ group, permissions: own }: BindingRow): readonly Permission[] {
  if (own) return own.filter(isPermission);
  return Object.hasOwn(permissionGroups, group)
    ? permissionGroups[group as keyof typeof permissionGroups].permissions
    : [];
}

/** A name that a later version dropped grants nothing. */
export function isPermission(name: string): name is Permission {
  return Object.hasOwn(permissions, name);
}
