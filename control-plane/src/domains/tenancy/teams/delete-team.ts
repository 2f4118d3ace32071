import type { Tx } from '../../../platform/db/database.ts';
import { lockOrganization, requireAdminLeft } from '../keep-an-admin.ts';
import type { TeamRow } from './find-team.ts';

/** A team goes with its bindings, unless they make the tenant's last admin. */
export async function deleteTeam(tx: Tx, team: TeamRow): Promise<void> {
  await lockOrganization(tx, team.organization_id);
  await tx.deleteFrom('teams').where('id', '=', team.id).execute();
  await requireAdminLeft(tx, team.organization_id);
}
