import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { permissionsOfBinding, selectBindings } from '../permission-bindings/describe-binding.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import { tenantScope } from '../scopes.ts';
import type { TeamRow } from './find-team.ts';

/** Membership in a team grants its bindings: the caller must hold all of them to add or remove a member. */
export async function requireTeamPermissions(tx: Tx, caller: Caller, team: TeamRow): Promise<void> {
  for (const binding of await selectBindings(tx).where('b.team_id', '=', team.id).execute()) {
    requireHeldPermissions(
      caller,
      permissionsOfBinding(binding),
      tenantScope(team.organization_id, binding.project_id),
    );
  }
}
