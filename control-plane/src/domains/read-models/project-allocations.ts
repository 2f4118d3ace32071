import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Consumer } from '../../platform/events/consumer.ts';
import type { LoggedEvent } from '../../platform/events/event-log.ts';
import { overviewFromEvent, type AllocationOverview } from './allocation-overview.ts';

/** Keeps the overviews up to date with the log. */
export function allocationOverviewConsumer(db: Db): Consumer {
  return {
    name: 'read-models.allocation-overviews',
    startFrom: 'beginning',
    handle: (event) => projectAllocations(db, [event]),
    handleTogether: (events) => projectAllocations(db, events),
  };
}

/** Later events win in any order of arrival, so repetition and replay change nothing. */
export async function projectAllocations(db: Db | Tx, events: readonly LoggedEvent[]): Promise<void> {
  const latest = new Map<string, AllocationOverview>();
  for (const event of events) {
    const overview = overviewFromEvent(event);
    if (!overview) continue;
    const before = latest.get(overview.allocation_id);
    if (!before || before.event_position < overview.event_position)
      latest.set(overview.allocation_id, overview);
  }
  if (latest.size === 0) return;
  const rows = [...latest.values()].toSorted((a, b) => (a.allocation_id < b.allocation_id ? -1 : 1));
  await db
    .insertInto('allocation_overviews')
    .values(rows.map((overview) => ({ ...overview, projected_at: sql<Date>`now()` })))
    .onConflict((c) =>
      c
        .column('allocation_id')
        .doUpdateSet((e) => ({
          organization_id: e.ref('excluded.organization_id'),
          project_id: e.ref('excluded.project_id'),
          state: e.ref('excluded.state'),
          stage: e.ref('excluded.stage'),
          status: e.ref('excluded.status'),
          message: e.ref('excluded.message'),
          percent: e.ref('excluded.percent'),
          event_position: e.ref('excluded.event_position'),
          projected_at: e.ref('excluded.projected_at'),
        }))
        .whereRef('allocation_overviews.event_position', '<', 'excluded.event_position'),
    )
    .execute();
}
