import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { TeamRow } from './find-team.ts';
import { requireTeamPermissions } from './require-team-permissions.ts';
import { describeTeamMember, selectTeamMembers } from './team-members.ts';

type TeamMember = components['schemas']['TeamMember'];

/** A manager grants the team's rights to others, so the caller must hold all of them to appoint or dismiss one. */
export async function setTeamRole(
  tx: Tx,
  caller: Caller,
  team: TeamRow,
  userId: string,
  role: TeamMember['role'],
): Promise<{ before: TeamMember['role']; member: TeamMember }> {
  await requireTeamPermissions(tx, caller, team);
  const row = await selectTeamMembers(tx, team).where('t.user_id', '=', userId).executeTakeFirst();
  if (!row) throw notFound();
  await tx
    .updateTable('team_members')
    .set({ role })
    .where('team_id', '=', team.id)
    .where('user_id', '=', userId)
    .execute();
  const before = describeTeamMember(row);
  return { before: before.role, member: { ...before, role } };
}
