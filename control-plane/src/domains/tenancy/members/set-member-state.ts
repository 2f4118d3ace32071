import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { endAccess } from './end-access.ts';
import type { MemberRow } from './find-member.ts';

/** Takes a member's rights without forgetting them. Doing it twice changes nothing. */
export async function disableMember(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
): Promise<MemberRow> {
  if (member.state === 'disabled') return member;
  const change = { state: 'disabled', disabled_at: systemClock.now() };
  await tx.updateTable('organization_members').set(change).where('id', '=', member.id).execute();
  await endAccess(tx, owners, member, 'disabled');
  return { ...member, ...change };
}

/** Gives them back. Keys and resources that passed on do not return. */
export async function enableMember(tx: Tx, member: MemberRow): Promise<MemberRow> {
  const change = { state: 'active', disabled_at: null };
  await tx.updateTable('organization_members').set(change).where('id', '=', member.id).execute();
  return { ...member, ...change };
}
