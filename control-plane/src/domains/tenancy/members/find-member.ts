import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, authorizeAnywhere, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { lockOrganization } from '../require-remaining-admin.ts';

export interface MemberRow {
  id: string;
  organization_id: string;
  user_id: string;
  email: string;
  name: string;
  state: 'active' | 'disabled';
  created_at: Date;
  disabled_at: Date | null;
}

/** Members with their person. */
export function selectMembers(tx: Tx) {
  return tx
    .selectFrom('organization_members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select([
      'm.id',
      'm.organization_id',
      'm.user_id',
      'u.email',
      'u.name',
      'm.state',
      'm.created_at',
      'm.disabled_at',
    ]);
}

/** A member to read. */
export async function findMember(tx: Tx, caller: Caller, memberId: string): Promise<MemberRow> {
  const row = await selectMembers(tx).where('m.id', '=', memberId).executeTakeFirst();
  if (!row) throw notFound();
  authorizeAnywhere(caller, 'member.read', row.organization_id);
  return row;
}

/** A member to change. Locks the tenant, so that it keeps an admin. */
export async function findMemberForUpdate(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  memberId: string,
): Promise<MemberRow> {
  const known = await selectMembers(tx).where('m.id', '=', memberId).executeTakeFirst();
  if (!known) throw notFound();
  authorize(caller, permission, { kind: 'tenant', organizationId: known.organization_id });
  await lockOrganization(tx, known.organization_id);
  // A concurrent request may have removed the member.
  const row = await selectMembers(tx).where('m.id', '=', memberId).executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
