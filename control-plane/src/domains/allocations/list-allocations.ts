import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { allocationOverviews } from '../read-models/find-overviews.ts';
import { describeAllocation } from './describe-allocation.ts';
import { queueStandings } from './queue/standings.ts';

type Allocation = components['schemas']['Allocation'];

export async function listAllocations(
  db: Db,
  now: Date,
  query: { project_id: string; limit: number; page?: string },
): Promise<{ items: Allocation[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('allocations')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const ids = page.rows.map((row) => row.id);
  const overviews = await allocationOverviews(db, ids);
  const standings = await queueStandings(db, ids);
  const items = page.rows.map((row) =>
    describeAllocation(row, now, overviews.get(row.id) ?? null, standings.get(row.id) ?? null),
  );
  return { items, next_page: page.next_page };
}
