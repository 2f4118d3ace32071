import type { EventEnvelope } from '@gpuaas/sdk/events';
import type { Stage, TimelineEntry } from '../api/types.ts';

/** The timeline entry an allocation event carries, or null when it carries none. */
export function timelineEntryOf(event: EventEnvelope): TimelineEntry | null {
  const { stage, status, message, percent } = event.payload;
  if (typeof stage !== 'string' || typeof message !== 'string') return null;
  if (status !== 'running' && status !== 'done' && status !== 'failed') return null;
  return {
    event_id: event.event_id,
    event_type: event.event_type,
    occurred_at: event.occurred_at,
    stage: stage as Stage,
    status,
    message,
    percent: typeof percent === 'number' ? percent : null,
  };
}

/** Adds an entry once: the stream repeats events after a reconnect. */
export function appendEntry(entries: TimelineEntry[], entry: TimelineEntry): TimelineEntry[] {
  return entries.some((known) => known.event_id === entry.event_id) ? entries : [...entries, entry];
}
