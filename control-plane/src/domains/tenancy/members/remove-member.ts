import type { Tx } from '../../../platform/db/database.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { revokeAccess, type DepartureReason } from './revoke-access.ts';
import type { MemberRow } from './find-member.ts';

/** Ends a membership with its bindings and team places. The tenant must be locked. */
export async function removeMember(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
  reason: DepartureReason,
): Promise<void> {
  await tx.deleteFrom('organization_members').where('id', '=', member.id).execute();
  await revokeAccess(tx, owners, member, reason);
}
