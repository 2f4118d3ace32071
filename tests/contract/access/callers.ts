import {
  permissionGroups,
  type Permission,
  type PermissionGroup,
} from '@gpuaas/contracts/generated/permissions.ts';
import { entriesOf } from '@gpuaas/contracts/typed-keys';
import { hashSecret, newSecret, secretPrefix } from '@gpuaas/control-plane/platform/auth/secrets';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

export interface Tenant {
  organizationId: string;
  projectId: string;
}

export type Standing = 'owner tenant' | 'other tenant' | 'platform';

/** A caller with exactly one built-in role, or none, in one tenant or on the platform. */
export interface RoleCaller {
  role: string;
  standing: Standing;
  scope: 'project' | 'tenant' | 'team' | 'platform' | 'none';
  permissions: ReadonlySet<Permission>;
  keys: { valid: string; expired: string; revoked: string };
}

export const NO_ROLE = 'no binding';
const none = { scope: 'none', permissions: [] } as const;
const TEAM_MANAGER = 'team manager';
const managing = { scope: 'team', permissions: ['member.read', 'member.manage'] } as const;

/**
 * Every built-in group at its scope, a member without any binding, and one who manages every team and has no binding, in
 * both tenants.
 */
export async function createCallers(
  db: Db,
  tenants: { owner: Tenant; other: Tenant },
): Promise<RoleCaller[]> {
  const callers: RoleCaller[] = [];
  for (const [standing, tenant] of [
    ['owner tenant', tenants.owner],
    ['other tenant', tenants.other],
    ['platform', null],
  ] as const) {
    const groups = entriesOf(permissionGroups).filter(
      ([, { scope }]) => (scope === 'platform') === (tenant === null),
    );
    const managers = tenant === null ? [] : [[TEAM_MANAGER, managing] as const];
    for (const [role, { scope, permissions }] of [...groups, [NO_ROLE, none] as const, ...managers]) {
      const userId = await createUser(db, `${role} of ${standing}`, tenant);
      if (role === TEAM_MANAGER) await manageTeams(db, userId, tenant!);
      else if (role !== NO_ROLE) await bind(db, userId, role, scope as 'project', tenant);
      callers.push({
        role,
        standing,
        scope,
        permissions: new Set(permissions),
        keys: {
          valid: await createKey(db, userId, tenant, {}),
          expired: await createKey(db, userId, tenant, { expires_at: new Date(Date.now() - 1000) }),
          revoked: await createKey(db, userId, tenant, { revoked_at: new Date() }),
        },
      });
    }
  }
  return callers;
}

/** The key of somebody who holds the permission, in the tenant that owns the resources or on the platform. */
export function keyOfHolder(callers: readonly RoleCaller[], permission: string): string {
  const holder = callers.find(
    ({ standing, permissions }) => standing !== 'other tenant' && permissions.has(permission as Permission),
  );
  if (!holder) throw new Error(`no built-in group has ${permission}`);
  return holder.keys.valid;
}

async function createUser(db: Db, name: string, tenant: Tenant | null): Promise<string> {
  const id = newId();
  const email = `${name.replaceAll(/\W+/g, '.')}@matrix.test`;
  await db.insertInto('users').values({ id, issuer: 'matrix', subject: name, email, name }).execute();
  if (tenant) {
    await db
      .insertInto('organization_members')
      .values({ id: newId(), organization_id: tenant.organizationId, user_id: id })
      .execute();
  }
  return id;
}

async function manageTeams(db: Db, userId: string, { organizationId }: Tenant): Promise<void> {
  const teams = await db
    .selectFrom('teams')
    .select(['id as team_id', 'organization_id'])
    .where('organization_id', '=', organizationId)
    .execute();
  await db
    .insertInto('team_members')
    .values(teams.map((team) => ({ ...team, user_id: userId, role: 'manager' })))
    .execute();
}

async function bind(
  db: Db,
  userId: string,
  group: PermissionGroup,
  scope: 'project' | 'tenant' | 'platform',
  tenant: Tenant | null,
): Promise<void> {
  await db
    .insertInto('permission_bindings')
    .values({
      id: newId(),
      user_id: userId,
      permission_group: group,
      scope,
      organization_id: tenant?.organizationId ?? null,
      project_id: scope === 'project' ? tenant!.projectId : null,
    })
    .execute();
}

async function createKey(
  db: Db,
  userId: string,
  tenant: Tenant | null,
  state: { expires_at?: Date; revoked_at?: Date },
): Promise<string> {
  const key = newSecret('api_key');
  await db
    .insertInto('api_keys')
    .values({
      id: newId(),
      user_id: userId,
      organization_id: tenant?.organizationId ?? null,
      name: 'matrix',
      prefix: secretPrefix(key),
      secret_hash: hashSecret(key),
      ...state,
    })
    .execute();
  return key;
}
