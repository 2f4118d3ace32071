import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { requireRemainingAdmin } from '../require-remaining-admin.ts';
import type { TeamRow } from './find-team.ts';
import { requireTeamPermissions } from './require-team-permissions.ts';

type TeamMember = components['schemas']['TeamMember'];

/** Adds a member to a team. That grants the team's bindings, so the caller must hold all of them. */
export async function addTeamMember(tx: Tx, caller: Caller, team: TeamRow, userId: string): Promise<void> {
  const member = await tx
    .selectFrom('organization_members')
    .select('id')
    .where('organization_id', '=', team.organization_id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!member) throw new Problem('member_unknown', 'The organization has no such member.');
  await requireTeamPermissions(tx, caller, team);
  await tx
    .insertInto('team_members')
    .values({ team_id: team.id, user_id: userId, organization_id: team.organization_id })
    .onConflict((c) => c.columns(['team_id', 'user_id']).doNothing())
    .execute();
}

/** Removes a member from a team and from its bindings. */
export async function removeTeamMember(tx: Tx, caller: Caller, team: TeamRow, userId: string): Promise<void> {
  await requireTeamPermissions(tx, caller, team);
  const { numDeletedRows } = await tx
    .deleteFrom('team_members')
    .where('team_id', '=', team.id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw notFound();
  await requireRemainingAdmin(tx, team.organization_id);
}

export async function listTeamMembers(
  tx: Tx,
  team: TeamRow,
  query: { limit: number; page?: string },
): Promise<Page<TeamMember>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await selectTeamMembers(tx, team)
    .$call(fromCursor(after, (q, [id]) => q.where('t.user_id', '>', id)))
    .orderBy('t.user_id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.user_id]);
  return {
    items: page.rows.map(describeTeamMember),
    next_page: page.next_page,
  };
}

export const selectTeamMembers = (tx: Tx, team: TeamRow) =>
  tx
    .selectFrom('team_members as t')
    .innerJoin('organization_members as m', (join) =>
      join.onRef('m.user_id', '=', 't.user_id').onRef('m.organization_id', '=', 't.organization_id'),
    )
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['t.user_id', 'm.id as member_id', 'u.email', 'u.name', 'm.state', 't.role', 't.created_at'])
    .where('t.team_id', '=', team.id);

type TeamMemberRow = Awaited<ReturnType<ReturnType<typeof selectTeamMembers>['executeTakeFirstOrThrow']>>;

export function describeTeamMember({ created_at, ...row }: TeamMemberRow): TeamMember {
  return {
    ...row,
    added_at: created_at.toISOString(),
  };
}
