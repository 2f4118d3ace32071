import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeTeam } from './find-team.ts';

export async function listTeams(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['Team'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('teams')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeTeam), next_page: page.next_page };
}
