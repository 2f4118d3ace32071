import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import type { Services } from '../../platform/services.ts';
import { showAllocations } from './show-allocation.ts';

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
  services: Pick<Services, 'policies' | 'clock'>,
  db: Db,
  query: AllocationFilters & { limit: number; page?: string },
): Promise<Page<Allocation>> {
  const before = decodePage(query.page, ['uuid']);
  const oneState = query.state === 'live' || query.state === 'ended' ? undefined : query.state;
  const rows = await db
    .selectFrom('allocations')
    .selectAll()
    .$call(given(query.project_id, (q, projectId) => q.where('project_id', '=', projectId)))
    .$call(
      given(query.organization_id, (q, organizationId) => q.where('organization_id', '=', organizationId)),
    )
    .$call(given(query.node_id, (q, nodeId) => q.where('node_id', '=', nodeId)))
    .$if(query.state === 'live', (q) => q.where('state', 'not in', ENDED))
    .$if(query.state === 'ended', (q) => q.where('state', 'in', ENDED))
    .$call(given(oneState, (q, value) => q.where('state', '=', value)))
    .$if(query.tag !== undefined, (q) => q.where(sql<boolean>`${query.tag} = any (tags)`))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await showAllocations(services, db, page.rows), next_page: page.next_page };
}
