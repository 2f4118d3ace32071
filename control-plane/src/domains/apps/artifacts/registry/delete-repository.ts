import { sql } from 'kysely';
import type { Tx } from '../../../../platform/db/database.ts';
import { given } from '../../../../platform/db/given.ts';
import type { ClosingHook } from '../../../tenancy/owned-resources.ts';

/** Frees the name; the collector removes what was in the repository. */
export async function deleteRepository(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('registry_repositories')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Nothing can pull from a closed project, so its repositories go. */
export const deleteRepositoriesAtClosing: ClosingHook = async (tx, { organizationId, projectId }) => {
  await tx
    .updateTable('registry_repositories')
    .set({ deleted_at: sql`now()` })
    .where('organization_id', '=', organizationId)
    .$call(given(projectId, (q, value) => q.where('project_id', '=', value)))
    .where('deleted_at', 'is', null)
    .execute();
};
