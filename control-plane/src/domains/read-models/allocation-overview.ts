import type { LoggedEvent } from '../../platform/events/event-log.ts';

/** One allocation as derived from its events. */
export interface AllocationOverview {
  allocation_id: string;
  organization_id: string;
  project_id: string;
  state: string;
  stage: string;
  status: string;
  message: string;
  percent: number | null;
  event_position: bigint;
}

const PREFIX = 'allocation.';

/** The overview after an event, or null for an event that is not about an allocation. */
export function overviewFromEvent(event: LoggedEvent): AllocationOverview | null {
  if (!event.envelope.event_type.startsWith(PREFIX)) return null;
  const { payload } = event.envelope;
  return {
    allocation_id: event.subjectId,
    organization_id: String(payload['organization_id']),
    project_id: String(payload['project_id']),
    state: String(payload['state']),
    stage: String(payload['stage']),
    status: String(payload['status']),
    message: String(payload['message']),
    percent: typeof payload['percent'] === 'number' ? payload['percent'] : null,
    event_position: BigInt(event.cursor.position),
  };
}
