import { permissionGroups, permissions, type Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { isKeyOf } from '@gpuaas/contracts/typed-keys';
import type { Binding } from './caller.ts';

/** A user or service account with its rights, as a statement reads them. */
export interface PrincipalRow {
  id: string;
  user_id: string | null;
  owner_user_id: string | null;
  email: string;
  name: string;
  organizations: string[];
  bindings: BindingRow[];
}

interface BindingRow {
  group: string;
  /** Permissions of a tenant's own group; null for a built-in one. */
  permissions: string[] | null;
  scope: Binding['scope'];
  organizationId: string | null;
  projectId: string | null;
  teamId?: string | null;
}

/** Permissions of a team's manager in the team, and nowhere else. */
const TEAM_MANAGER: readonly Permission[] = ['member.read', 'member.manage'];

/**
 * Permissions granted by the bindings. A limited credential grants no more than its scopes, and no more than
 * its holder has now.
 */
export function grantedBindings(rows: readonly BindingRow[], scopes: readonly string[] | null): Binding[] {
  return rows.map((row) => ({
    ...row,
    permissions: permissionsOf(row).filter((permission) => scopes === null || scopes.includes(permission)),
  }));
}

function permissionsOf({ group, permissions: own, scope }: BindingRow): readonly Permission[] {
  if (scope === 'team') return TEAM_MANAGER;
  if (own) return own.filter(isPermission);
  return isKeyOf(permissionGroups, group) ? permissionGroups[group].permissions : [];
}

/** A permission that a later version dropped grants nothing. */
export function isPermission(name: string): name is Permission {
  return Object.hasOwn(permissions, name);
}
