import { permissionGroups, type PermissionGroup } from '@gpuaas/contracts/generated/permissions.ts';
import { hashSecret, newSecret, secretPrefix } from '../../platform/auth/secrets.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { addMember, createDefaults, DEFAULT_PROJECT } from './organizations/create-organization.ts';

export interface DemoPerson {
  key: string;
  role: string;
  email: string;
  name: string;
  password: string;
  groups: readonly PermissionGroup[];
  organization: string | null;
}

/** Demo people to sign in as. They exist only in the embedded identity provider. */
export const demoPeople: readonly DemoPerson[] = [
  {
    key: 'operator',
    role: 'platform operator',
    email: 'operator@gpuaas.test',
    name: 'Platform Operator',
    password: 'operator-demo',
    groups: ['fleet_operator', 'platform_admin'],
    organization: null,
  },
  {
    key: 'admin',
    role: 'tenant admin',
    email: 'admin@acme.test',
    name: 'Tenant Admin',
    password: 'admin-demo',
    groups: ['tenant_admin'],
    organization: 'Acme Research',
  },
  {
    key: 'member',
    role: 'tenant member',
    email: 'member@acme.test',
    name: 'Tenant Member',
    password: 'member-demo',
    groups: ['regular_user'],
    organization: 'Acme Research',
  },
  {
    key: 'other',
    role: 'member of a second tenant',
    email: 'member@globex.test',
    name: 'Second Tenant Member',
    password: 'globex-demo',
    groups: ['tenant_admin'],
    organization: 'Globex Labs',
  },
];

export interface SeededPerson extends DemoPerson {
  apiKey: string;
  organizationId: string | null;
  projectId: string | null;
}

/** Creates the demo people and their tenants, once. `knownKeys` are the API keys of an earlier start. */
export async function seedDemoPeople(
  tx: Tx,
  issuer: string,
  knownKeys: ReadonlyMap<string, string>,
): Promise<SeededPerson[]> {
  const seeded: SeededPerson[] = [];
  for (const person of demoPeople) {
    const userId = await findOrCreateUser(tx, issuer, person);
    const tenant = person.organization ? await findOrCreateTenant(tx, person.organization) : null;
    if (tenant) await addMember(tx, tenant.organizationId, userId);
    for (const group of person.groups) await bind(tx, userId, group, tenant);
    const apiKey = await keepOrCreateKey(tx, userId, tenant, knownKeys.get(person.email));
    seeded.push({
      ...person,
      apiKey,
      organizationId: tenant?.organizationId ?? null,
      projectId: tenant?.projectId ?? null,
    });
  }
  return seeded;
}

async function findOrCreateUser(tx: Tx, issuer: string, person: DemoPerson): Promise<string> {
  const described = { email: person.email, email_verified: true, name: person.name };
  const row = await tx
    .insertInto('users')
    .values({ id: newId(), issuer, subject: person.key, ...described })
    .onConflict((c) => c.columns(['issuer', 'subject']).doUpdateSet(described))
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

interface Tenant {
  organizationId: string;
  projectId: string;
}

async function findOrCreateTenant(tx: Tx, name: string): Promise<Tenant> {
  const existing = await tx
    .selectFrom('organizations as o')
    .innerJoin('projects as p', 'p.organization_id', 'o.id')
    .select(['o.id as organizationId', 'p.id as projectId'])
    .where('o.name', '=', name)
    .where('p.name', '=', DEFAULT_PROJECT)
    .executeTakeFirst();
  if (existing) return existing;
  const tenant = { organizationId: newId(), projectId: newId() };
  await tx.insertInto('organizations').values({ id: tenant.organizationId, name }).execute();
  await createDefaults(tx, { ...tenant, name });
  return tenant;
}

async function bind(tx: Tx, userId: string, group: PermissionGroup, tenant: Tenant | null): Promise<void> {
  const { scope } = permissionGroups[group];
  await tx
    .insertInto('permission_bindings')
    .values({
      id: newId(),
      user_id: userId,
      permission_group: group,
      scope,
      organization_id: tenant?.organizationId ?? null,
      project_id: scope === 'project' ? tenant!.projectId : null,
    })
    .onConflict((c) => c.doNothing())
    .execute();
}

async function keepOrCreateKey(
  tx: Tx,
  userId: string,
  tenant: Tenant | null,
  known: string | undefined,
): Promise<string> {
  if (known) {
    const row = await tx
      .selectFrom('api_keys')
      .select('id')
      .where('secret_hash', '=', hashSecret(known))
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (row) return known;
  }
  const key = newSecret('api_key');
  await tx
    .insertInto('api_keys')
    .values({
      id: newId(),
      user_id: userId,
      organization_id: tenant?.organizationId ?? null,
      name: 'demo',
      prefix: secretPrefix(key),
      secret_hash: hashSecret(key),
    })
    .execute();
  return key;
}
