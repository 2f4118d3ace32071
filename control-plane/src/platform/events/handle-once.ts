import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';

/** Longer than any bus repeats an event by itself. */
const KEPT = '14 days';

/**
 * Runs `effect` unless this consumer has done it for this event before; mark and effect stand or fall together.
 * True when it ran.
 */
export async function handleOnce(
  tx: Tx,
  consumer: string,
  eventId: string,
  effect: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  const marked = await tx
    .insertInto('handled_events')
    .values({ consumer, event_id: eventId })
    .onConflict((c) => c.columns(['consumer', 'event_id']).doNothing())
    .executeTakeFirst();
  if (marked.numInsertedOrUpdatedRows === 0n) return false;
  await effect(tx);
  return true;
}

export async function forgetHandledEvents(db: Db): Promise<void> {
  await sql`delete from handled_events where handled_at < now() - ${KEPT}::interval`.execute(db);
}
