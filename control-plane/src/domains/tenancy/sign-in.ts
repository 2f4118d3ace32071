import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';

export interface Person {
  issuer: string;
  subject: string;
  email: string;
  name: string;
}

/** The user behind an identity. Somebody new gets an organization with a default project of their own. */
export async function signIn(tx: Tx, person: Person): Promise<string> {
  const user = await tx
    .insertInto('users')
    .values({ id: newId(), ...person })
    .onConflict((c) =>
      c.columns(['issuer', 'subject']).doUpdateSet({ email: person.email, name: person.name }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  const binding = await tx
    .selectFrom('permission_bindings')
    .select('id')
    .where('user_id', '=', user.id)
    .limit(1)
    .executeTakeFirst();
  if (!binding) await createOrganization(tx, { name: `${person.name}'s organization`, ownerId: user.id });
  return user.id;
}

export async function createOrganization(
  tx: Tx,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ organizationId: string; projectId: string }> {
  const organizationId = newId();
  const projectId = newId();
  await tx.insertInto('organizations').values({ id: organizationId, name }).execute();
  await tx
    .insertInto('projects')
    .values({ id: projectId, organization_id: organizationId, name: 'default' })
    .execute();
  await tx
    .insertInto('permission_bindings')
    .values({
      id: newId(),
      user_id: ownerId,
      permission_group: 'tenant_admin',
      scope: 'tenant',
      organization_id: organizationId,
    })
    .execute();
  return { organizationId, projectId };
}
