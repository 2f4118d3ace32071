import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeProject, PROJECT_COLUMNS } from './find-project.ts';

/** Projects of a tenant that the caller may read: all, or those in which the caller has a binding. */
export async function listProjects(
  tx: Tx,
  caller: Caller,
  query: { organization_id: string; team_id?: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Project']>> {
  const after = decodePage(query.page, ['uuid']);
  const readable = caller.bindings.filter(
    (binding) =>
      binding.organizationId === query.organization_id && binding.permissions.includes('project.read'),
  );
  const everywhere = readable.some((binding) => binding.scope === 'tenant');
  const rows = await tx
    .selectFrom('projects')
    .select(PROJECT_COLUMNS)
    .where('organization_id', '=', query.organization_id)
    .$if(!everywhere, (q) =>
      q.where(
        'id',
        'in',
        readable.flatMap((binding) => binding.projectId ?? []),
      ),
    )
    .$call(given(query.team_id, (q, teamId) => q.where('team_id', '=', teamId)))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeProject), next_page: page.next_page };
}
