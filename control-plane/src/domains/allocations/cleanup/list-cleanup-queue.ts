import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { getSlot, type SlotObserver } from '../../fleet/slots/list-slots.ts';
import { isCleaning } from './find-blocked-slot.ts';
import { recentWipes } from '../certificates/list-wipe-certificates.ts';

type BlockedSlot = components['schemas']['BlockedSlot'];

/**
 * Quarantined slots with the evidence of their wipes, oldest first. A slot whose wipe is retried stays in the queue until
 * the wipe is proven: its health tells it from a slot that is wiped for the first time.
 */
export async function listCleanupQueue(
  observer: SlotObserver,
  db: Db | Tx,
  query: { limit: number; page?: string },
): Promise<Page<BlockedSlot>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_resource_slots')
    .select(['id', 'node_id'])
    .where((e) =>
      e.or([
        e('state', '=', 'cleanup_blocked'),
        e.and([e('state', '=', 'cleaning'), e('health_state', '=', 'unhealthy')]),
      ]),
    )
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items: BlockedSlot[] = [];
  for (const row of page.rows) items.push(await describeBlockedSlot(observer, db, row.node_id, row.id));
  return { items, next_page: page.next_page };
}

/** Enough for an operator; a tenant reads the whole record. */
const SHOWN_WIPES = 50;

export async function describeBlockedSlot(
  observer: SlotObserver,
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
      ? await recentWipes(db, { allocationId: allocation.id, slotId }, SHOWN_WIPES)
      : [],
  };
}
