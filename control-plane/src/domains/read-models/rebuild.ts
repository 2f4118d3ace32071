import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { LOG_START, readEvents } from '../../platform/events/event-log.ts';
import { projectAllocations } from './project-allocations.ts';
import { projectEveryNode } from './project-nodes.ts';

const BATCH = 1000;
const BEFORE_ANY_EVENT = -1n;

export interface Rebuilt {
  events: number;
  /** Rows whose events are past retention. */
  kept: number;
  /** Rows that no event of the log tells of. */
  removed: number;
  /** Hosts, which are shown as they are. */
  hosts: number;
}

/**
 * Builds the read models again from the event log; safe while consumers run, and nobody sees a gap.
 *
 * Old events are dropped month by month, so the log cannot make every row again. The last event alone decides a row,
 * therefore a row whose last event is still in the log is rebuilt exactly, and a row whose last event is older than
 * the log is kept as it is: throwing it away would lose it. No snapshot events are needed for that.
 */
export async function rebuildReadModels(db: Db): Promise<Rebuilt> {
  const { rows } = await sql<{ first: string | null }>`
    select min(position)::text as first from outbox_events`.execute(db);
  const first = rows[0]?.first;
  if (first) {
    // Any event wins over these from here on, and whatever none has won over in the end was never told.
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
  const hosts = await projectEveryNode(db);
  return { events, kept: Number(kept), removed: Number(removed.numDeletedRows), hosts };
}

async function replay(db: Db): Promise<number> {
  let cursor = LOG_START;
  let events = 0;
  for (;;) {
    const batch = await readEvents(db, cursor, BATCH);
    await projectAllocations(db, batch);
    events += batch.length;
    if (batch.length < BATCH) return events;
    cursor = batch.at(-1)!.cursor;
  }
}
