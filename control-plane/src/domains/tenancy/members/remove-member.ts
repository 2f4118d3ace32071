import type { Tx } from '../../../platform/db/database.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { endAccess, type DepartureReason } from './end-access.ts';
import type { MemberRow } from './find-member.ts';

/** Ends a membership; bindings and places in teams go with it. The tenant must be locked. */
export async function removeMember(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
  reason: DepartureReason,
): Promise<void> {
  await tx.deleteFrom('organization_members').where('id', '=', member.id).execute();
  await endAccess(tx, owners, member, reason);
}
