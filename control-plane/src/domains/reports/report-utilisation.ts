import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

type Utilisation = components['schemas']['Utilisation'];

/** Leased share of the approved slots now. */
export async function reportUtilisation(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<Utilisation>> {
  const after = decodePage(query.page, ['text', 'text']);
  const { rows } = await sql<Omit<Utilisation, 'other' | 'sold_percent'>>`
    select n.region, s.gpu_model, count(*)::integer as approved,
      (count(*) filter (where s.state in ('reserved', 'in_use')))::integer as sold,
      (count(*) filter (where s.state = 'available'))::integer as available
    from node_resource_slots s join nodes n on n.id = s.node_id
    where s.state <> 'disabled'
      and ${after ? sql`(n.region, s.gpu_model) > (${after[0]}, ${after[1]})` : sql`true`}
    group by 1, 2 order by 1, 2 limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [row.region, row.gpu_model]);
  const items = page.rows.map((row) => ({
    ...row,
    other: row.approved - row.sold - row.available,
    sold_percent: Math.round((row.sold * 10_000) / row.approved) / 100,
  }));
  return { items, next_page: page.next_page };
}
