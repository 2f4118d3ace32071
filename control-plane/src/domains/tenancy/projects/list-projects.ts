import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeProject, PROJECT_COLUMNS } from './find-project.ts';

/** The projects of a tenant in which the caller may read: all, or those with a binding of their own. */
export async function listProjects(
  tx: Tx,
  caller: Caller,
  query: { organization_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['Project'][]; next_page: string | null }> {
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
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeProject), next_page: page.next_page };
}
