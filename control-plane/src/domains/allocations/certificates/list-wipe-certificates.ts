import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';

type WipeCertificate = components['schemas']['WipeCertificate'];

/**
 * Every wipe of the allocation's slots, verified or not, oldest first. A disk that cannot be proven clean is
 * wiped repeatedly, so there may be many.
 */
export async function listWipeCertificates(
  tx: Tx,
  allocationId: string,
  query: { limit: number; page?: string },
): Promise<Page<WipeCertificate>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await wipesOf(tx, allocationId)
    .$call(fromCursor(after, (q, [id]) => q.where('w.id', '>', id)))
    .orderBy('w.id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

/** The last wipes of one slot, oldest first. */
export async function recentWipes(
  db: Db | Tx,
  { allocationId, slotId }: { allocationId: string; slotId: string },
  limit: number,
): Promise<WipeCertificate[]> {
  const rows = await wipesOf(db, allocationId)
    .where('w.slot_id', '=', slotId)
    .orderBy('w.id', 'desc')
    .limit(limit)
    .execute();
  return rows.toReversed().map(describe);
}

function wipesOf(db: Db | Tx, allocationId: string) {
  return db
    .selectFrom('wipe_certificates as w')
    .leftJoin('issued_certificates as i', 'i.wipe_certificate_id', 'w.id')
    .selectAll('w')
    .select('i.issued_at')
    .where('w.allocation_id', '=', allocationId);
}

type WipeRow = Awaited<ReturnType<ReturnType<typeof wipesOf>['execute']>>[number];

function describe(row: WipeRow): WipeCertificate {
  return {
    id: row.id,
    allocation_id: row.allocation_id,
    slot_id: row.slot_id,
    slot_index: row.slot_index,
    device_serial: row.device_serial,
    method: row.method,
    verified: row.verified,
    verification: row.verification,
    tools: row.tools,
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at.toISOString(),
    issued_at: row.issued_at?.toISOString() ?? null,
  };
}
