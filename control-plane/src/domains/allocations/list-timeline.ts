import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import type { TimelineStep } from './allocation-events.ts';

type TimelineEntry = components['schemas']['TimelineEntry'];

/** The allocation's events, oldest first. */
export async function listTimeline(
  db: Db,
  allocationId: string,
  query: { limit: number; page?: string },
): Promise<{ items: TimelineEntry[]; next_page: string | null }> {
  const after = decodePage(query.page, ['integer']);
  const rows = await db
    .selectFrom('outbox_events')
    .select(['position', 'event_id', 'event_type', 'occurred_at', 'payload'])
    .where('subject_id', '=', allocationId)
    // Where a launch stands in line is told live and by the allocation itself; here it would drown the rest.
    .where('event_type', '<>', 'allocation.queue_moved')
    .$if(after !== null, (q) => q.where('position', '>', BigInt(after![0]!)))
    .orderBy('position')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.position.toString()]);
  const items = page.rows.map((row) => {
    const step = row.payload as unknown as TimelineStep;
    return {
      event_id: row.event_id,
      event_type: row.event_type,
      occurred_at: row.occurred_at.toISOString(),
      stage: step.stage,
      status: step.status,
      message: step.message,
      percent: step.percent ?? null,
    };
  });
  return { items, next_page: page.next_page };
}
