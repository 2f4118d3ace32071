import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { findOwningTeam } from '../teams/find-owning-team.ts';
import type { ProjectRow } from './find-project.ts';

/** Renames a locked project or moves it to another team of its organization. Rights in it do not depend on its team. */
export async function updateProject(
  tx: Tx,
  project: ProjectRow,
  body: components['schemas']['UpdateProject'],
): Promise<ProjectRow> {
  const change = { name: body.name ?? project.name, team_id: project.team_id };
  if (body.team_id !== undefined && body.team_id !== project.team_id) {
    change.team_id = await findOwningTeam(tx, project.organization_id, body.team_id);
  }
  await rejectDuplicateName(change.name, () =>
    tx.updateTable('projects').set(change).where('id', '=', project.id).execute(),
  );
  return { ...project, ...change };
}
