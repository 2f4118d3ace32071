import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeTeam } from './find-team.ts';

export async function listTeams(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Team']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('teams')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$if(after !== null, (q) => q.where('id', '>', after![0]))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeTeam), next_page: page.next_page };
}
