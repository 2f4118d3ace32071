import type { Identity } from '../../platform/auth/identity.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { createOrganization } from './create-organization.ts';

/** The user behind an identity. Somebody new gets an organization with a default project of their own. */
export async function signIn(tx: Tx, person: Identity): Promise<string> {
  const { userId, isNew } = await findOrCreateUser(tx, person);
  if (isNew)
    await createOrganization(tx, { name: `${person.name}'s organization`.slice(0, 200), ownerId: userId });
  return userId;
}

async function findOrCreateUser(
  tx: Tx,
  { issuer, subject, email, name }: Identity,
): Promise<{ userId: string; isNew: boolean }> {
  const id = newId();
  const user = await tx
    .insertInto('users')
    .values({ id, issuer, subject, email, name })
    .onConflict((c) => c.columns(['issuer', 'subject']).doUpdateSet({ email, name }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return { userId: user.id, isNew: user.id === id };
}
