import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { advanceCursor } from './consumer-lease.ts';
import type { LoggedEvent } from './event-log.ts';

/** How long a closed parked event stays readable. */
const KEPT = '90 days';

export interface FailedEvent {
  event: LoggedEvent;
  failures: number;
  error: string;
}

/** Parks the event and moves the consumer past it, both or neither; false if the lease was lost. */
export async function parkEvent(
  db: Db,
  consumer: string,
  runner: string,
  { event, failures, error }: FailedEvent,
): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    if (!(await advanceCursor(tx, consumer, runner, event.cursor))) return false;
    const { event_id, event_type } = event.envelope;
    await tx
      .insertInto('parked_events')
      .values({
        id: newId(),
        consumer,
        event_id,
        event_type,
        subject_id: event.subjectId,
        event: JSON.stringify(event),
        failures,
        last_error: error,
      })
      .onConflict((c) => c.columns(['consumer', 'event_id']).doNothing())
      .execute();
    return true;
  });
}

export interface EventToRetry {
  id: string;
  event: LoggedEvent;
}

/** Parked events that operators want retried, oldest first. */
export async function eventsToRetry(db: Db, consumer: string): Promise<EventToRetry[]> {
  const rows = await db
    .selectFrom('parked_events')
    .select(['id', 'event'])
    .where('consumer', '=', consumer)
    .where('settled_at', 'is', null)
    .where('state', '=', 'retrying')
    .orderBy('id')
    .limit(20)
    .execute();
  return rows.map(({ id, event }) => ({ id, event }));
}

/** Null if the retry succeeded. An event that an operator skipped meanwhile stays skipped. */
export async function settleRetry(db: Db, id: string, error: string | null): Promise<void> {
  await db
    .updateTable('parked_events')
    .set(
      error === null
        ? { state: 'handled', settled_at: sql`now()` }
        : { state: 'parked', last_error: error, failures: sql`failures + 1` },
    )
    .where('id', '=', id)
    .where('state', '=', 'retrying')
    .execute();
}

/** The open event with its row locked, or undefined. */
export async function lockParkedEvent(tx: Tx, id: string) {
  return await tx
    .selectFrom('parked_events')
    .select(['id', 'consumer', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function requestRetry(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('parked_events').set({ state: 'retrying' }).where('id', '=', id).execute();
}

export async function skipParkedEvent(
  tx: Tx,
  id: string,
  skip: { now: Date; by: string; reason: string },
): Promise<void> {
  await tx
    .updateTable('parked_events')
    .set({ state: 'skipped', settled_at: skip.now, settled_by: skip.by, reason: skip.reason })
    .where('id', '=', id)
    .execute();
}

export async function pruneParkedEvents(db: Db): Promise<void> {
  await sql`delete from parked_events where settled_at < now() - ${KEPT}::interval`.execute(db);
}
