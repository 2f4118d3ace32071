import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { allocationOverviews } from '../read-models/find-overviews.ts';
import { describeAllocation } from './describe-allocation.ts';
import { outagesOf } from './outages-of.ts';
import { queueStandings } from './queue/standings.ts';

type Allocation = components['schemas']['Allocation'];

interface AllocationFilters {
  project_id?: string;
  organization_id?: string;
  node_id?: string;
  /** One state, or all that hold or await capacity, or all that are over. */
  state?: Allocation['state'] | 'live' | 'ended';
  tag?: string;
}

const ENDED: Allocation['state'][] = ['released', 'failed'];

export async function listAllocations(
  db: Db,
  now: Date,
  query: AllocationFilters & { limit: number; page?: string },
): Promise<{ items: Allocation[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const oneState = query.state === 'live' || query.state === 'ended' ? undefined : query.state;
  const rows = await db
    .selectFrom('allocations')
    .selectAll()
    .$if(query.project_id !== undefined, (q) => q.where('project_id', '=', query.project_id!))
    .$if(query.organization_id !== undefined, (q) => q.where('organization_id', '=', query.organization_id!))
    .$if(query.node_id !== undefined, (q) => q.where('node_id', '=', query.node_id!))
    .$if(query.state === 'live', (q) => q.where('state', 'not in', ENDED))
    .$if(query.state === 'ended', (q) => q.where('state', 'in', ENDED))
    .$if(oneState !== undefined, (q) => q.where('state', '=', oneState!))
    .$if(query.tag !== undefined, (q) => q.where(sql<boolean>`${query.tag} = any (tags)`))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const ids = page.rows.map((row) => row.id);
  const overviews = await allocationOverviews(db, ids);
  const standings = await queueStandings(db, ids);
  const outages = await outagesOf(db, ids);
  const items = page.rows.map((row) =>
    describeAllocation(
      row,
      now,
      overviews.get(row.id) ?? null,
      standings.get(row.id) ?? null,
      outages.get(row.id),
    ),
  );
  return { items, next_page: page.next_page };
}
