import type { Db } from '../../platform/db/database.ts';
import { LOG_START, readEvents } from '../../platform/events/event-log.ts';
import { projectAllocation } from './project-allocations.ts';

const BATCH = 1000;

/** Throws the read models away and builds them again from the event log; safe while consumers run. */
export async function rebuildReadModels(db: Db): Promise<{ events: number }> {
  await db.deleteFrom('allocation_overviews').execute();
  let cursor = LOG_START;
  let events = 0;
  for (;;) {
    const batch = await readEvents(db, cursor, BATCH);
    for (const event of batch) {
      await projectAllocation(db, event);
      cursor = event.cursor;
    }
    events += batch.length;
    if (batch.length < BATCH) return { events };
  }
}
