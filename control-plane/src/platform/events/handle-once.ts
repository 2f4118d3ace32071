import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';

/** Longer than any bus repeats an event automatically. */
const KEPT = '14 days';

/**
 * Runs `effect` unless this consumer has done it for this event; mark and effect commit together. True if it
 * ran.
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

/** Marks many events as done by this consumer, and returns those that it had not done before. */
export async function markHandled(
  tx: Tx,
  consumer: string,
  eventIds: readonly string[],
): Promise<Set<string>> {
  const marked = await tx
    .insertInto('handled_events')
    .values(eventIds.map((event_id) => ({ consumer, event_id })))
    .onConflict((c) => c.columns(['consumer', 'event_id']).doNothing())
    .returning('event_id')
    .execute();
  return new Set(marked.map(({ event_id }) => event_id));
}

export async function pruneHandledEvents(db: Db): Promise<void> {
  await sql`delete from handled_events where handled_at < now() - ${KEPT}::interval`.execute(db);
}
