import { sql } from 'kysely';
import type { EventType } from '@gpuaas/contracts/generated/events.ts';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';

export const EVENTS_CHANNEL = 'gpuaas_events';

export interface NewEvent {
  type: EventType;
  /** The resource the event is about; its events stay in order. */
  subjectId: string;
  /** Whose event it is; null for operators only. */
  organizationId: string | null;
  correlationId: string;
  payload: Record<string, unknown>;
}

/** Writes the event in the transaction of the change it tells of. */
export async function emit(tx: Tx, event: NewEvent): Promise<void> {
  await tx
    .insertInto('outbox_events')
    .values({
      event_id: newId(),
      event_type: event.type,
      correlation_id: event.correlationId,
      organization_id: event.organizationId,
      subject_id: event.subjectId,
      payload: JSON.stringify(event.payload),
    })
    .execute();
  await sql`select pg_notify(${EVENTS_CHANNEL}, '')`.execute(tx);
}
