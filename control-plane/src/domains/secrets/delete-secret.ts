import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { ClosingHook } from '../tenancy/owned-resources.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { SECRET_COLUMNS, type SecretRow } from './describe-secret.ts';
import { given } from '../../platform/db/given.ts';

export async function deleteSecret(
  tx: Tx,
  caller: Caller,
  { projectId, name }: { projectId: string; name: string },
  correlationId: string,
): Promise<SecretRow> {
  const project = await findProject(tx, caller, 'project_secret.write', projectId);
  const row = await tx
    .deleteFrom('project_secrets')
    .where('project_id', '=', project.id)
    .where('name', '=', name)
    .returning(SECRET_COLUMNS)
    .executeTakeFirst();
  if (!row) throw notFound();
  await emit(tx, {
    type: 'project_secret.deleted',
    subjectId: row.id,
    organizationId: row.organization_id,
    correlationId,
    payload: {
      secret_id: row.id,
      organization_id: row.organization_id,
      project_id: row.project_id,
      name: row.name,
    },
  });
  return row;
}

/** Nothing of a closed project starts again, so its secrets go. */
export const deleteSecretsAtClosing: ClosingHook = async (tx, { organizationId, projectId }) => {
  await tx
    .deleteFrom('project_secrets')
    .where('organization_id', '=', organizationId)
    .$call(given(projectId, (q, value) => q.where('project_id', '=', value)))
    .execute();
};
