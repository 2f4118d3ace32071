import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { getSlot } from '../fleet/list-slots.ts';
import type { Observer } from '../fleet/reachability.ts';
import { isCleaning } from './find-blocked-slot.ts';
import { latestWipes } from './list-wipe-certificates.ts';

type BlockedSlot = components['schemas']['BlockedSlot'];

/** Quarantined slots with what their wipes showed, oldest first. */
export async function listCleanupQueue(
  observer: Observer,
  db: Db | Tx,
  query: { limit: number; page?: string },
): Promise<{ items: BlockedSlot[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_resource_slots')
    .select(['id', 'node_id'])
    .where('state', '=', 'cleanup_blocked')
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const items: BlockedSlot[] = [];
  for (const row of page.rows) items.push(await describeBlocked(observer, db, row.node_id, row.id));
  return { items, next_page: page.next_page };
}

/** Enough to see what became of it; a tenant reads the whole record. */
const SHOWN_WIPES = 50;

export async function describeBlocked(
  observer: Observer,
  db: Db | Tx,
  nodeId: string,
  slotId: string,
): Promise<BlockedSlot> {
  const slot = await getSlot(observer, db, nodeId, slotId);
  const node = await db
    .selectFrom('nodes')
    .select('hostname')
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const allocation =
    slot.allocation_id === null
      ? undefined
      : await db
          .selectFrom('allocations')
          .select(['id', 'state', 'execution_state'])
          .where('id', '=', slot.allocation_id)
          .executeTakeFirst();
  return {
    slot,
    hostname: node.hostname,
    allocation: allocation ?? null,
    running: allocation ? isCleaning(allocation) : false,
    certificates: allocation
      ? await latestWipes(db, { allocationId: allocation.id, slotId }, SHOWN_WIPES)
      : [],
  };
}
