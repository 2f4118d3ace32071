import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

/** Revoking twice changes nothing; an accepted invitation is already a membership. */
export async function revokeInvitation(tx: Tx, invitationId: string, now: Date): Promise<void> {
  const row = await tx
    .updateTable('invitations')
    .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
    .where('id', '=', invitationId)
    .where('accepted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!row)
    throw new Problem('invitation_not_usable', 'The invitation was accepted; remove the member instead.');
}
