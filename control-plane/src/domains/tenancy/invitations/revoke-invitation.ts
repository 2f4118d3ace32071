import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

/** Revoking twice changes nothing; one that was accepted is a membership by now. */
export async function revokeInvitation(tx: Tx, invitationId: string, now: Date): Promise<void> {
  const row = await tx
    .updateTable('invitations')
    .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
    .where('id', '=', invitationId)
    .where('accepted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!row) throw new Problem('invitation_not_usable', 'It has been accepted; remove the member instead.');
}
