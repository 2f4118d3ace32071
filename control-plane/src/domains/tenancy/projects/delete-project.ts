import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { liveResources, type ClosingHook, type ResourceOwner } from '../owned-resources.ts';
import type { ProjectRow } from './find-project.ts';

const LISTED = 100;

/** Closes a project without live resources. Its row must be locked, so that none is added meanwhile. */
export async function deleteProject(
  tx: Tx,
  owners: readonly ResourceOwner[],
  atClosing: readonly ClosingHook[],
  project: ProjectRow,
): Promise<void> {
  const by = { organizationId: project.organization_id, projectId: project.id };
  const resources = await liveResources(tx, owners, by, LISTED);
  if (resources.length > 0) {
    throw new Problem('project_not_empty', 'Release or delete the resources of the project first.', {
      extensions: { resources },
    });
  }
  for (const end of atClosing) await end(tx, by);
  const now = systemClock.now();
  await tx.deleteFrom('permission_bindings').where('project_id', '=', project.id).execute();
  await tx.deleteFrom('ssh_keys').where('project_id', '=', project.id).execute();
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('project_id', '=', project.id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  await withRole(tx, 'gpuaas_auth', () =>
    tx.updateTable('projects').set({ deleted_at: now }).where('id', '=', project.id).execute(),
  );
}
