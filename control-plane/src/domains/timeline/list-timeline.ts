import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { AllocationStage } from '@gpuaas/contracts/generated/stages.ts';
import type { Db } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import type { TimelineEvent } from './allocation-events.ts';
import type { Entry } from './step.ts';

type TimelineEntry = components['schemas']['TimelineEntry'];

/** The allocation's events, oldest first. */
export async function listTimeline(
  db: Db,
  allocationId: string,
  query: { limit: number; page?: string },
): Promise<Page<TimelineEntry>> {
  const after = decodePage(query.page, ['integer']);
  const rows = await eventsOf(db, allocationId)
    .$call(fromCursor(after, (q, [position]) => q.where('position', '>', BigInt(position))))
    .orderBy('position')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.position.toString()]);
  const items = page.rows.map((row) => ({
    event_id: row.event_id,
    event_type: row.event_type,
    ...toEntry(row),
  }));
  return { items, next_page: page.next_page };
}

/** A launch has a few hundred events, and so has a release; a long lease between them may have any number. */
const AT_EACH_END = 2000;

/** Events from which the steps are folded: the first and the latest ones, oldest first. */
export async function readEntries(db: Db, allocationId: string): Promise<Entry<AllocationStage>[]> {
  const first = await eventsOf(db, allocationId).orderBy('position').limit(AT_EACH_END).execute();
  const last = first.at(-1);
  if (!last || first.length < AT_EACH_END) return first.map(toEntry);
  const latest = await eventsOf(db, allocationId)
    .where('position', '>', last.position)
    .orderBy('position', 'desc')
    .limit(AT_EACH_END)
    .execute();
  return [...first, ...latest.toReversed()].map(toEntry);
}

function eventsOf(db: Db, allocationId: string) {
  return (
    db
      .selectFrom('outbox_events')
      .select(['position', 'event_id', 'event_type', 'occurred_at', 'payload'])
      .where('subject_id', '=', allocationId)
      // Queue positions are sent live and stored with the allocation; here they would hide the other events. The request
      // to the workers repeats the reservation.
      .where('event_type', 'not in', ['allocation.queue_moved', 'provisioning.requested'])
  );
}

function toEntry(row: { occurred_at: Date; payload: unknown }): Entry<AllocationStage> {
  const { stage, status, message, percent } = row.payload as TimelineEvent;
  return { occurred_at: row.occurred_at.toISOString(), stage, status, message, percent: percent ?? null };
}
