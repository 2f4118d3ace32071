import { hashSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { addMember } from '../organizations/create-organization.ts';
import type { InvitationRow } from './describe-invitation.ts';
import { findInvitationByToken, notUsable } from './find-by-token.ts';

export interface AcceptedInvitation {
  invitationId: string;
  organizationId: string;
  memberId: string;
  projectId: string | null;
}

/**
 * Makes the person a member with the group of the invitation. Runs as gpuaas_auth: the person does not belong
 * to the tenant yet. Of concurrent attempts, one update takes the invitation.
 */
export async function acceptInvitation(
  tx: Tx,
  userId: string,
  token: string,
  now: Date,
): Promise<AcceptedInvitation> {
  await findInvitationByToken(tx, userId, token, now);
  const taken = await tx
    .updateTable('invitations')
    .set({ accepted_at: now, accepted_by: userId })
    .where('token_hash', '=', hashSecret(token))
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  if (!taken) throw notUsable();
  const memberId = await join(tx, taken, userId);
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
  // Re-enabling a disabled member needs the permission to enable members.
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
