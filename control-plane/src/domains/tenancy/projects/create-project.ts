import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { findOwningTeam } from '../teams/find-owning-team.ts';
import { PROJECT_COLUMNS, type ProjectRow } from './find-project.ts';

export async function createProject(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateProject'],
): Promise<ProjectRow> {
  const organization = await findOrganization(tx, caller, 'project.create', body.organization_id);
  const teamId = await findOwningTeam(tx, organization.id, body.team_id);
  return await rejectDuplicateName(body.name, () =>
    tx
      .insertInto('projects')
      .values({ id: newId(), organization_id: organization.id, team_id: teamId, name: body.name })
      .returning(PROJECT_COLUMNS)
      .executeTakeFirstOrThrow(),
  );
}
