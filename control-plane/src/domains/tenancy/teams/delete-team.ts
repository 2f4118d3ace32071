import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { requireRemainingAdmin } from '../require-remaining-admin.ts';
import type { TeamRow } from './find-team.ts';
import { findOwningTeam } from './find-owning-team.ts';
import { requireTeamPermissions } from './require-team-permissions.ts';

/**
 * Deletes a team with its bindings, unless they make the tenant's last admin. `transferTo` takes over its
 * projects. The team must be locked, so that no project joins it meanwhile. Returns the ids of the moved
 * projects.
 */
export async function deleteTeam(
  tx: Tx,
  caller: Caller,
  team: TeamRow,
  transferTo: string | undefined,
): Promise<string[]> {
  if (team.is_default) {
    throw new Problem('default_team_required', 'Make another team the default one first.');
  }
  await requireTeamPermissions(tx, caller, team);
  const projects = await handOverProjects(tx, caller, team, transferTo);
  await tx.deleteFrom('teams').where('id', '=', team.id).execute();
  await requireRemainingAdmin(tx, team.organization_id);
  return projects;
}

async function handOverProjects(
  tx: Tx,
  caller: Caller,
  team: TeamRow,
  transferTo: string | undefined,
): Promise<string[]> {
  const { id: teamId, organization_id: organizationId } = team;
  const live = await tx.selectFrom('projects').select('id').where('team_id', '=', teamId).execute();
  if (live.length > 0 && transferTo === undefined) {
    throw new Problem('team_owns_projects', 'Name the team that takes over its projects as `transfer_to`.');
  }
  if (live.length > 0) authorize(caller, 'project.manage', { kind: 'tenant', organizationId });
  const successor = await findOwningTeam(tx, organizationId, transferTo);
  if (successor === teamId) throw new Problem('team_unknown', 'The projects need another team.');
  // Closed projects need a team, too. Tenants do not see them, so they move without an event.
  await withRole(tx, 'gpuaas_auth', () =>
    tx
      .updateTable('projects')
      .set({ team_id: successor })
      .where('organization_id', '=', organizationId)
      .where('team_id', '=', teamId)
      .execute(),
  );
  return live.map(({ id }) => id);
}
