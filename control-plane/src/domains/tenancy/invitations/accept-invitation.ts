import { hashSecret, kindOfSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { addMember } from '../organizations/create-organization.ts';
import type { InvitationRow } from './describe-invitation.ts';

export interface Acceptance {
  invitationId: string;
  organizationId: string;
  memberId: string;
  projectId: string | null;
}

/**
 * Makes the person a member with the group of the invitation. Runs as gpuaas_auth: whoever accepts does not belong to
 * the tenant yet. However many try at once, one update takes the invitation.
 */
export async function acceptInvitation(
  tx: Tx,
  person: { userId: string; email: string },
  token: string,
  now: Date,
): Promise<Acceptance> {
  if (kindOfSecret(token) !== 'invitation') throw notUsable();
  const tokenHash = hashSecret(token);
  const known = await tx
    .selectFrom('invitations')
    .select('email')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (!known) throw notUsable();
  if (known.email.toLowerCase() !== person.email.toLowerCase()) {
    throw new Problem('invitation_email_mismatch', 'Sign in with the address that was invited.');
  }
  const taken = await tx
    .updateTable('invitations')
    .set({ accepted_at: now, accepted_by: person.userId })
    .where('token_hash', '=', tokenHash)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  if (!taken) throw notUsable();
  const memberId = await join(tx, taken, person.userId);
  return {
    invitationId: taken.id,
    organizationId: taken.organization_id,
    memberId,
    projectId: taken.project_id,
  };
}

async function join(tx: Tx, invitation: InvitationRow, userId: string): Promise<string> {
  const organizationId = invitation.organization_id;
  await addMember(tx, organizationId, userId);
  const member = await tx
    .selectFrom('organization_members')
    .select(['id', 'state'])
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  // Only who may enable members may undo that somebody was disabled.
  if (member.state !== 'active') throw notUsable();
  await tx
    .insertInto('permission_bindings')
    .values({
      id: newId(),
      user_id: userId,
      organization_id: organizationId,
      project_id: invitation.project_id,
      scope: invitation.project_id === null ? 'tenant' : 'project',
      permission_group: invitation.permission_group,
      permission_group_id: invitation.permission_group_id,
    })
    .onConflict((c) => c.doNothing())
    .execute();
  return member.id;
}

function notUsable(): Problem {
  return new Problem('invitation_not_usable', 'Ask for a new invitation.');
}
