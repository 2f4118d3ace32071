import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { lockOrganization } from '../require-remaining-admin.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { selectMembers } from './find-member.ts';
import { removeMember } from './remove-member.ts';

/** The caller leaves the organization. Returns the id of the ended membership. */
export async function leaveOrganization(
  tx: Tx,
  owners: readonly ResourceOwner[],
  userId: string,
  organizationId: string,
): Promise<string> {
  await lockOrganization(tx, organizationId);
  const member = await selectMembers(tx)
    .where('m.organization_id', '=', organizationId)
    .where('m.user_id', '=', userId)
    .executeTakeFirst();
  if (!member) throw notFound();
  await removeMember(tx, owners, member, 'left');
  return member.id;
}
