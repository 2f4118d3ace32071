import type { EventType } from '@gpuaas/contracts/events';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { LOG_START, type LoggedEvent } from '@gpuaas/control-plane/platform/events/event-log';
import { sql } from 'kysely';

interface EventRow {
  event_id: string;
  occurred_at: Date;
  correlation_id: string;
  organization_id: string | null;
  subject_id: string;
  payload: Record<string, unknown>;
}

/** The last event of a type, of one subject or of any, as a consumer gets it. */
export async function lastEvent(
  db: Db,
  type: EventType,
  subjectId: string | null = null,
): Promise<LoggedEvent> {
  const { rows } = await sql<EventRow>`select * from outbox_events where event_type = ${type}
    and (${subjectId}::text is null or subject_id::text = ${subjectId}) order by position desc limit 1`.execute(
    db,
  );
  const row = rows[0];
  if (!row) throw new Error(`no ${type} was emitted`);
  return {
    cursor: LOG_START,
    organizationId: row.organization_id,
    subjectId: row.subject_id,
    envelope: {
      event_id: row.event_id,
      event_type: type,
      occurred_at: row.occurred_at.toISOString(),
      version: 1,
      correlation_id: row.correlation_id,
      payload: row.payload,
    },
  };
}
