import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { allocationOverviews } from '../read-models/find-overviews.ts';
import { describeAllocation } from './describe-allocation.ts';
import { queueStandings } from './queue/standings.ts';

type Allocation = components['schemas']['Allocation'];

interface AllocationFilters {
  project_id?: string;
  organization_id?: string;
  node_id?: string;
  state?: Allocation['state'];
}

export async function listAllocations(
  db: Db,
  now: Date,
  query: AllocationFilters & { limit: number; page?: string },
): Promise<{ items: Allocation[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('allocations')
    .selectAll()
    .$if(query.project_id !== undefined, (q) => q.where('project_id', '=', query.project_id!))
    .$if(query.organization_id !== undefined, (q) => q.where('organization_id', '=', query.organization_id!))
    .$if(query.node_id !== undefined, (q) => q.where('node_id', '=', query.node_id!))
    .$if(query.state !== undefined, (q) => q.where('state', '=', query.state!))
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
