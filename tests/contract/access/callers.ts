import { permissionGroups, type Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { hashSecret, newSecret, secretPrefix } from '@gpuaas/control-plane/platform/auth/secrets';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

export interface Tenant {
  organizationId: string;
  projectId: string;
}

export type Standing = 'owner tenant' | 'other tenant' | 'platform';

/** Somebody who holds exactly one built-in role, or none, in one tenant or on the platform. */
export interface RoleCaller {
  role: string;
  standing: Standing;
  scope: 'project' | 'tenant' | 'platform' | 'none';
  permissions: ReadonlySet<Permission>;
  keys: { valid: string; expired: string; revoked: string };
}

export const NO_ROLE = 'no binding';
const none = { scope: 'none', permissions: [] } as const;

/** Every built-in group at its scope, and a member without any binding, in both tenants. */
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
    const groups = Object.entries(permissionGroups).filter(
      ([, { scope }]) => (scope === 'platform') === (tenant === null),
    );
    for (const [role, { scope, permissions }] of [...groups, [NO_ROLE, none] as const]) {
      const userId = await createUser(db, `${role} of ${standing}`, tenant);
      if (role !== NO_ROLE) await bind(db, userId, role, scope as 'project', tenant);
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

async function bind(
  db: Db,
  userId: string,
  group: string,
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
