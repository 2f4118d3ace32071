import { sql, type RawBuilder } from 'kysely';
import { payloadError, type EventPayloads, type EventType } from '@gpuaas/contracts/events';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { sanitize } from '@gpuaas/contracts/sanitize';

export const EVENTS_CHANNEL = 'gpuaas_events';

/** In tests every payload is checked against the AsyncAPI contract; in production a mismatch must not stop a launch. */
const checkPayloads = process.env['VITEST'] !== undefined || process.env['GPUAAS_CHECK_EVENTS'] === '1';

interface EventOf<T extends EventType> {
  type: T;
  /** The subject of the event; its events stay in order. */
  subjectId: string;
  /** The tenant of the event; null for operators only. */
  organizationId: string | null;
  correlationId: string;
  payload: EventPayloads[T];
}

export type NewEvent = { [T in EventType]: EventOf<T> }[EventType];

/** Writes an event in the transaction of its change. Returns its id. */
export async function emit(tx: Tx, event: NewEvent): Promise<string> {
  const row = eventRow(event);
  await sql`select emit_events(${JSON.stringify([row])})`.execute(tx);
  return row.event_id;
}

/** Writes many events in one statement, in order. */
export async function emitAll(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  await sql`select ${emitEventsSql(events)}`.execute(tx);
}

/** SQL fragment that emits the events inside another statement. */
export function emitEventsSql(events: readonly NewEvent[]): RawBuilder<void> {
  return sql`emit_events(${eventRows(events)})`;
}

/** The argument of `emit_events`. */
export function eventRows(events: readonly NewEvent[]): string {
  return JSON.stringify(events.map(eventRow));
}

function eventRow(event: NewEvent) {
  if (checkPayloads) {
    const mismatch = payloadError(event.type, event.payload);
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
