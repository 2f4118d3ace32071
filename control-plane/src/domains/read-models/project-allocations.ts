import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Consumer } from '../../platform/events/consumer.ts';
import type { LoggedEvent } from '../../platform/events/event-log.ts';
import { overviewAfter } from './allocation-overview.ts';

/** Keeps the overviews up with the log. */
export function allocationOverviewConsumer(db: Db): Consumer {
  return {
    name: 'read-models.allocation-overviews',
    startFrom: 'beginning',
    handle: (event) => projectAllocation(db, event),
  };
}

/** Later events win whatever order they arrive in, so repetition and replay change nothing. */
export async function projectAllocation(db: Db | Tx, event: LoggedEvent): Promise<void> {
  const overview = overviewAfter(event);
  if (!overview) return;
  await db
    .insertInto('allocation_overviews')
    .values({ ...overview, projected_at: sql`now()` })
    .onConflict((c) =>
      c
        .column('allocation_id')
        .doUpdateSet({ ...overview, projected_at: sql`now()` })
        .where('allocation_overviews.event_position', '<', overview.event_position),
    )
    .execute();
}
