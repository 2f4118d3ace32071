import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { EventEnvelope } from '@gpuaas/sdk/events';
import { allocationKeys } from '../api/query-keys.ts';
import { forgetSession } from '../api/query-client.ts';
import type { TimelineEntry } from '../api/types.ts';
import { followSharedStream, type StreamMessage } from './shared-stream.ts';
import { setStreamStatus } from './stream-status.ts';
import { appendEntry, timelineEntryOf } from './timeline-from-event.ts';
import { touchedKeys } from './touched-keys.ts';

const REFRESH_DELAY_MS = 150;

/** Follows the live stream until aborted and keeps the cache true to it. */
export async function followEvents(queryClient: QueryClient, signal: AbortSignal) {
  const refresh = refreshInBatches(queryClient);
  const hear = (message: StreamMessage) => {
    switch (message.kind) {
      case 'event':
        refresh([...touchedKeys(message.event), ...growTimeline(queryClient, message.event)]);
        break;
      case 'status':
        setStreamStatus(message.status === 'open' ? 'open' : 'lost');
        // What happened between the first load and the open stream was not streamed to us.
        if (message.status === 'open') void queryClient.invalidateQueries();
        break;
      case 'refused':
        setStreamStatus('lost');
        if (message.httpStatus === 401) forgetSession();
    }
  };
  try {
    await followSharedStream(signal, hear);
  } catch {
    setStreamStatus('lost');
  }
}

/** Adds the event to its timeline; answers with the timeline's key if it must be fetched again instead. */
function growTimeline(queryClient: QueryClient, event: EventEnvelope): QueryKey[] {
  const allocationId = event.payload['allocation_id'];
  if (typeof allocationId !== 'string') return [];
  const key = allocationKeys.timeline(allocationId);
  const entry = timelineEntryOf(event);
  if (!entry) return [key];
  queryClient.setQueryData<TimelineEntry[]>(key, (known) => known && appendEntry(known, entry));
  // An answer under way may be older than the event and would overwrite it.
  return queryClient.getQueryState(key)?.fetchStatus === 'fetching' ? [key] : [];
}

/** A launch makes many events in a moment; each answer is fetched again once for all of them. */
function refreshInBatches(queryClient: QueryClient) {
  const waiting = new Map<string, QueryKey>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (keys: QueryKey[]) => {
    for (const key of keys) waiting.set(JSON.stringify(key), key);
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const queryKey of waiting.values()) void queryClient.invalidateQueries({ queryKey });
      waiting.clear();
    }, REFRESH_DELAY_MS);
  };
}
