import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { refusingTakenName } from '../name-taken.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { PROJECT_COLUMNS, type ProjectRow } from './find-project.ts';

export async function createProject(
  tx: Tx,
  caller: Caller,
  body: { organization_id: string; name: string },
): Promise<ProjectRow> {
  const organization = await findOrganization(tx, caller, 'project.create', body.organization_id);
  return await refusingTakenName(body.name, () =>
    tx
      .insertInto('projects')
      .values({ id: newId(), organization_id: organization.id, name: body.name })
      .returning(PROJECT_COLUMNS)
      .executeTakeFirstOrThrow(),
  );
}
