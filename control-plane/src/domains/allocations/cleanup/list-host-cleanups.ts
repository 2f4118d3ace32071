import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';

type HostCleanup = components['schemas']['HostCleanup'];

/** Every cleanup of the host that the allocation had as a whole, verified or not, oldest first. */
export async function listHostCleanups(
  tx: Tx,
  allocationId: string,
  query: { limit: number; page?: string },
): Promise<Page<HostCleanup>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('host_cleanups')
    .selectAll()
    .where('allocation_id', '=', allocationId)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row): HostCleanup => ({
    id: row.id,
    allocation_id: row.allocation_id,
    method: row.method.slice(0, 200),
    verified: row.verified,
    verification: row.verification.slice(0, 2000),
    proven_by: row.witnessed_by !== null ? 'witness' : row.maas_system_id !== null ? 'maas' : 'host',
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at.toISOString(),
    recorded_at: row.recorded_at.toISOString(),
  }));
  return { items, next_page: page.next_page };
}
