import type { Permission, PermissionGroup } from '@gpuaas/contracts/generated/permissions.ts';
import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import type { Db } from '../db/database.ts';
import type { Scope as DatabaseScope } from '../db/scope.ts';
import type { CallerIdentity } from '../http/caller-identity.ts';
import { notFound, Problem } from '../http/problem.ts';

export interface Binding {
  group: PermissionGroup;
  scope: 'platform' | 'tenant' | 'project';
  organizationId: string | null;
  projectId: string | null;
}

/** A person or program that proved who it is, with the rights it holds at this request. */
export interface Caller extends CallerIdentity {
  userId: string;
  email: string;
  name: string;
  bindings: Binding[];
  credential: { kind: 'api_key'; id: string } | { kind: 'session'; csrfToken: string; idHash: Buffer };
}

export type Scope = { kind: 'platform' } | { kind: 'project'; organizationId: string; projectId: string };

export async function loadBindings(db: Db, userId: string): Promise<Binding[]> {
  const rows = await db
    .selectFrom('permission_bindings')
    .select(['permission_group', 'scope', 'organization_id', 'project_id'])
    .where('user_id', '=', userId)
    .execute();
  return rows
    .filter((row) => row.permission_group in permissionGroups)
    .map((row) => ({
      group: row.permission_group as PermissionGroup,
      scope: row.scope as Binding['scope'],
      organizationId: row.organization_id,
      projectId: row.project_id,
    }));
}

/** Permissions that hold at a scope: those bound there and above it. */
export function permissionsAt(bindings: Binding[], scope: Scope): Set<Permission> {
  const granted = bindings.filter((binding) => covers(binding, scope));
  return new Set(granted.flatMap((binding) => [...permissionGroups[binding.group].permissions]));
}

/**
 * Throws unless the caller holds the permission. Somebody with no standing in the tenant at all gets the
 * answer of a missing resource, so that nothing can be probed.
 */
export function authorize(caller: Caller, permission: Permission, scope: Scope): void {
  if (permissionsAt(caller.bindings, scope).has(permission)) {
    caller.authorised = true;
    return;
  }
  const knowsTenant =
    scope.kind === 'platform' ||
    caller.bindings.some((binding) => binding.organizationId === scope.organizationId);
  if (!knowsTenant) throw notFound();
  throw new Problem('forbidden', `This needs the permission ${permission}.`, { extensions: { permission } });
}

const platformPermissions: ReadonlySet<string> = new Set(
  Object.values(permissionGroups)
    .filter((group) => group.scope === 'platform')
    .flatMap((group) => [...group.permissions]),
);

/**
 * An operator's rights count where the operation asks for one; everything else is done as a tenant, even by
 * somebody who is both.
 */
export function scopeOf(
  callerId: string,
  bindings: Binding[],
  permission: string | undefined,
): DatabaseScope {
  const isOperator = bindings.some((binding) => binding.scope === 'platform');
  if (isOperator && permission !== undefined && platformPermissions.has(permission)) {
    return { role: 'gpuaas_operator', callerId };
  }
  const organizationIds = [...new Set(bindings.flatMap((binding) => binding.organizationId ?? []))];
  return { role: 'gpuaas_tenant', organizationIds, callerId };
}

function covers(binding: Binding, scope: Scope): boolean {
  if (scope.kind === 'platform') return binding.scope === 'platform';
  if (binding.scope === 'tenant') return binding.organizationId === scope.organizationId;
  return binding.scope === 'project' && binding.projectId === scope.projectId;
}
