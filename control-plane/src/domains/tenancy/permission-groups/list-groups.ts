import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { builtInGroups, describeGroup } from './describe-group.ts';

type PermissionGroup = components['schemas']['PermissionGroup'];

/** The built-in groups first, then the tenant's own. */
export async function listGroups(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<PermissionGroup>> {
  const after = decodePage(query.page, ['text'])?.[0];
  const place = builtInGroups.findIndex((group) => group.id === after);
  const builtIn = after === undefined ? builtInGroups : place < 0 ? [] : builtInGroups.slice(place + 1);
  const own = await tx
    .selectFrom('permission_groups')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$if(after !== undefined && place < 0, (q) =>
      q.where((e) => e(e.cast<string>('id', 'text'), '>', after!)),
    )
    .orderBy((e) => e.cast('id', 'text'))
    .limit(query.limit + 1)
    .execute();
  const page = toPage([...builtIn, ...own.map(describeGroup)], query.limit, (group) => [group.id]);
  return { items: page.rows, next_page: page.next_page };
}
