import type { Tx } from '../../../platform/db/database.ts';
import type { Repository } from './registry/repositories.ts';
import { parseRepository } from './registry/targets.ts';

/** Where uploads become artifacts of the registry. */
export const UPLOADS = { name: 'uploads', path: 'system/uploads' } as const;

/** One of the platform's own repositories by its path; null if there is none. */
export async function findSystemRepository(tx: Tx, path: string): Promise<Repository | null> {
  const { projectId, name } = parseRepository(path.split('/'));
  if (projectId !== null) return null;
  const row = await tx
    .selectFrom('registry_repositories')
    .select('id')
    .where('project_id', 'is', null)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ? { id: row.id, organizationId: null, projectId: null, path } : null;
}
