import type { Identity, Tenant } from '../../platform/auth/identity.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { findInvitationByToken } from './invitations/find-by-token.ts';
import { addMember, createOrganization } from './organizations/create-organization.ts';

/**
 * The user of an identity. A new person joins the tenant of their identity provider, or gets an organization
 * with a default project. With an invitation they get neither: the page that they return to asks them.
 */
export async function signIn(
  tx: Tx,
  person: Identity,
  invitationToken: string | null = null,
): Promise<string> {
  const { userId, isNew } = await findOrCreateUser(tx, person);
  if (person.tenant) {
    await joinTenant(tx, userId, person.tenant);
    return userId;
  }
  if (isNew && !(await isInvited(tx, userId, invitationToken))) {
    await createOrganization(tx, { name: `${person.name}'s organization`.slice(0, 200), ownerId: userId });
  }
  return userId;
}

/** An unusable invitation must not prevent the sign-in. */
async function isInvited(tx: Tx, userId: string, token: string | null): Promise<boolean> {
  if (token === null) return false;
  try {
    await findInvitationByToken(tx, userId, token, systemClock.now());
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

async function findOrCreateUser(
  tx: Tx,
  { issuer, subject, email, emailVerified, name, tenant }: Identity,
): Promise<{ userId: string; isNew: boolean }> {
  const id = newId();
  const home = tenant?.organizationId ?? null;
  const described = { email, email_verified: emailVerified, name };
  const user = await tx
    .insertInto('users')
    .values({ id, issuer, subject, ...described, home_organization_id: home })
    .onConflict((c) => c.columns(['issuer', 'subject']).doUpdateSet(described))
    .returning(['id', 'home_organization_id'])
    .executeTakeFirstOrThrow();
  if (user.home_organization_id !== home)
    throw new Problem('sign_in_denied', 'This person belongs to another organization.');
  return { userId: user.id, isNew: user.id === id };
}

async function joinTenant(tx: Tx, userId: string, tenant: Tenant): Promise<void> {
  const { organizationId, newcomersProjectId } = tenant;
  const isNew = await addMember(tx, organizationId, userId);
  if (isNew && newcomersProjectId) {
    await tx
      .insertInto('permission_bindings')
      .values({
        id: newId(),
        user_id: userId,
        permission_group: 'regular_user',
        scope: 'project',
        organization_id: organizationId,
        project_id: newcomersProjectId,
      })
      .execute();
  }
  const { state } = await tx
    .selectFrom('organization_members')
    .select('state')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (state === 'disabled')
    throw new Problem('sign_in_denied', 'Your organization has disabled your access.');
}
