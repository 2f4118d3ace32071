import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { lockOrganization, requireAdminLeft } from '../keep-an-admin.ts';
import { permissionsOfBinding, selectBindings } from '../permission-bindings/describe-binding.ts';
import { requireRights } from '../require-rights.ts';
import { scopeAt } from '../scopes.ts';
import type { TeamRow } from './find-team.ts';

type TeamMember = components['schemas']['TeamMember'];

/** Puts somebody into a team. That gives them what the team is bound to, so the caller must hold all of it. */
export async function addTeamMember(tx: Tx, caller: Caller, team: TeamRow, userId: string): Promise<void> {
  const member = await tx
    .selectFrom('organization_members')
    .select('id')
    .where('organization_id', '=', team.organization_id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!member) throw new Problem('member_unknown', 'The organization has no such member.');
  for (const binding of await selectBindings(tx).where('b.team_id', '=', team.id).execute()) {
    requireRights(caller, permissionsOfBinding(binding), scopeAt(team.organization_id, binding.project_id));
  }
  await tx
    .insertInto('team_members')
    .values({ team_id: team.id, user_id: userId, organization_id: team.organization_id })
    .onConflict((c) => c.columns(['team_id', 'user_id']).doNothing())
    .execute();
}

export async function removeTeamMember(tx: Tx, team: TeamRow, userId: string): Promise<void> {
  await lockOrganization(tx, team.organization_id);
  const { numDeletedRows } = await tx
    .deleteFrom('team_members')
    .where('team_id', '=', team.id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw notFound();
  await requireAdminLeft(tx, team.organization_id);
}

export async function listTeamMembers(
  tx: Tx,
  team: TeamRow,
  query: { limit: number; page?: string },
): Promise<{ items: TeamMember[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('team_members as t')
    .innerJoin('organization_members as m', (join) =>
      join.onRef('m.user_id', '=', 't.user_id').onRef('m.organization_id', '=', 't.organization_id'),
    )
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['t.user_id', 'm.id as member_id', 'u.email', 'u.name', 'm.state', 't.created_at'])
    .where('t.team_id', '=', team.id)
    .$if(after !== null, (q) => q.where('t.user_id', '>', after![0]!))
    .orderBy('t.user_id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.user_id]);
  return {
    items: page.rows.map(({ created_at, state, ...row }) => ({
      ...row,
      state: state as TeamMember['state'],
      added_at: created_at.toISOString(),
    })),
    next_page: page.next_page,
  };
}
