import { recordAudit } from '../../platform/audit/record.ts';
import type { Identity, Tenant } from '../../platform/auth/identity.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { acceptInvitation } from './invitations/accept-invitation.ts';
import { addMember, createOrganization } from './organizations/create-organization.ts';

/** What somebody brings along when an invitation led them to the sign-in. */
export interface BroughtInvitation {
  token: string;
  correlationId: string;
  ip: string | null;
}

/**
 * The user behind an identity. Somebody new joins the tenant whose provider vouches for them, or by the invitation they
 * bring, or gets an organization with a default project of their own.
 */
export async function signIn(
  tx: Tx,
  person: Identity,
  invitation: BroughtInvitation | null = null,
): Promise<string> {
  const { userId, isNew } = await findOrCreateUser(tx, person);
  if (person.tenant) {
    await joinTenant(tx, userId, person.tenant);
    return userId;
  }
  const joined = invitation !== null && (await join(tx, { userId, email: person.email }, invitation));
  if (isNew && !joined) {
    await createOrganization(tx, { name: `${person.name}'s organization`.slice(0, 200), ownerId: userId });
  }
  return userId;
}

/** An invitation that cannot be used must not keep anybody from signing in. */
async function join(
  tx: Tx,
  person: { userId: string; email: string },
  { token, correlationId, ip }: BroughtInvitation,
): Promise<boolean> {
  try {
    const accepted = await acceptInvitation(tx, person, token, systemClock.now());
    await recordAudit(tx, {
      actorUserId: person.userId,
      actorRole: 'user',
      ip,
      action: 'invitation.accept',
      targetType: 'invitation',
      targetId: accepted.invitationId,
      organizationId: accepted.organizationId,
      result: 'succeeded',
      correlationId,
      detail: { member_id: accepted.memberId },
    });
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

async function findOrCreateUser(
  tx: Tx,
  { issuer, subject, email, name, tenant }: Identity,
): Promise<{ userId: string; isNew: boolean }> {
  const id = newId();
  const home = tenant?.organizationId ?? null;
  const user = await tx
    .insertInto('users')
    .values({ id, issuer, subject, email, name, home_organization_id: home })
    .onConflict((c) => c.columns(['issuer', 'subject']).doUpdateSet({ email, name }))
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
