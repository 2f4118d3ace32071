import { sql } from 'kysely';
import { payloadMismatch, type EventPayloads, type EventType } from '@gpuaas/contracts/events';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { sanitize } from '@gpuaas/contracts/sanitize';

export const EVENTS_CHANNEL = 'gpuaas_events';

/** In tests every payload is checked against the AsyncAPI contract; in production a mismatch must not stop a launch. */
const checkPayloads = process.env['VITEST'] !== undefined || process.env['GPUAAS_CHECK_EVENTS'] === '1';

interface EventOf<T extends EventType> {
  type: T;
  /** The resource the event is about; its events stay in order. */
  subjectId: string;
  /** Whose event it is; null for operators only. */
  organizationId: string | null;
  correlationId: string;
  payload: EventPayloads[T];
}

export type NewEvent = { [T in EventType]: EventOf<T> }[EventType];

/** Writes the event in the transaction of the change it tells of. Returns its id. */
export async function emit(tx: Tx, event: NewEvent): Promise<string> {
  const { event_id, payload } = eventRow(event);
  await sql`select emit_event(${event_id}, ${event.type}, ${event.correlationId}, ${event.organizationId},
    ${event.subjectId}, ${JSON.stringify(payload)})`.execute(tx);
  return event_id;
}

/** Many events in one statement, in their order. */
export async function emitAll(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  await sql`
    with written as (
      insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
      select e.event_id, e.event_type, e.correlation_id, e.organization_id, e.subject_id, e.payload,
        greatest(pg_current_xact_id(),
          (select o.xid from outbox_events o where o.subject_id = e.subject_id order by o.xid desc limit 1))
      from json_populate_recordset(null::outbox_events, ${JSON.stringify(events.map(eventRow))}) as e
      returning 1
    )
    select pg_notify(${EVENTS_CHANNEL}, '') from written limit 1`.execute(tx);
}

function eventRow(event: NewEvent) {
  if (checkPayloads) {
    const mismatch = payloadMismatch(event.type, event.payload);
    if (mismatch) throw new Error(`event breaks the contract: ${mismatch}`);
  }
  return {
    event_id: newId(),
    event_type: event.type,
    correlation_id: event.correlationId,
    organization_id: event.organizationId,
    subject_id: event.subjectId,
    payload: sanitize(event.payload),
  };
}
