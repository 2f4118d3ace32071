import { sql } from 'kysely';
import { inBatches } from '../../platform/db/in-batches.ts';
import type { Db } from '../../platform/db/database.ts';
import { LOG_START, readEvents, type Cursor } from '../../platform/events/event-log.ts';
import { projectAllocations } from './project-allocations.ts';
import { projectAllNodes, type HostViews } from './project-nodes.ts';

const BATCH = 1000;
const BEFORE_ANY_EVENT = -1n;

export interface RebuildResult {
  events: number;
  /** Rows whose events are past retention. */
  kept: number;
  /** Rows without an event in the log. */
  removed: number;
  /** Hosts, which are shown as they are. */
  hosts: number;
}

/**
 * Builds the read models again from the event log; safe while consumers run, without a visible gap.
 *
 * Old events are dropped month by month, so the log cannot recreate every row. The last event alone decides a
 * row: a row whose last event is still in the log is rebuilt exactly, and a row whose last event is older
 * than the log is kept, because deleting it would lose it. No snapshot events are needed.
 */
export async function rebuildReadModels(views: HostViews): Promise<RebuildResult> {
  const { db } = views;
  const { rows } = await sql<{ first: string | null }>`
    select min(position)::text as first from outbox_events`.execute(db);
  const first = rows[0]?.first;
  if (first) {
    // Any event overrides these from here on; rows that no event has overridden in the end have no event.
    await db
      .updateTable('allocation_overviews')
      .set({ event_position: BEFORE_ANY_EVENT })
      .where('event_position', '>=', BigInt(first))
      .execute();
  }
  const events = await replay(db);
  const removed = await db
    .deleteFrom('allocation_overviews')
    .where('event_position', '=', BEFORE_ANY_EVENT)
    .executeTakeFirst();
  const { kept } = await db
    .selectFrom('allocation_overviews')
    .select((eb) => eb.fn.countAll<string>().as('kept'))
    .where('event_position', '<', BigInt(first ?? Number.MAX_SAFE_INTEGER))
    .executeTakeFirstOrThrow();
  const hosts = await projectAllNodes(views);
  return { events, kept: Number(kept), removed: Number(removed.numDeletedRows), hosts };
}

async function replay(db: Db): Promise<number> {
  let events = 0;
  await inBatches<{ cursor: Cursor }>(BATCH, async (last) => {
    const batch = await readEvents(db, last?.cursor ?? LOG_START, BATCH);
    await projectAllocations(db, batch);
    events += batch.length;
    return batch;
  });
  return events;
}
