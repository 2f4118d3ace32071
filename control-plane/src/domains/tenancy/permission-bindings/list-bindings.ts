import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeBinding, selectBindings } from './describe-binding.ts';

interface BindingQuery {
  organization_id: string;
  project_id?: string;
  user_id?: string;
  team_id?: string;
  service_account_id?: string;
  limit: number;
  page?: string;
}

const FILTERS = ['project_id', 'user_id', 'team_id', 'service_account_id'] as const;

export async function listBindings(
  tx: Tx,
  query: BindingQuery,
): Promise<Page<components['schemas']['PermissionBinding']>> {
  const after = decodePage(query.page, ['uuid']);
  let rows = selectBindings(tx).where('b.organization_id', '=', query.organization_id);
  for (const filter of FILTERS) {
    const value = query[filter];
    if (value !== undefined) rows = rows.where(`b.${filter}`, '=', value);
  }
  if (after) rows = rows.where('b.id', '>', after[0]);
  const found = await rows
    .orderBy('b.id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(found, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeBinding), next_page: page.next_page };
}
