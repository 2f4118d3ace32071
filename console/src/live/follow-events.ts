import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { clearSignIn } from '../api/query-client.ts';
import { followSharedStream, type StreamMessage } from './shared-stream.ts';
import { checkConnection } from './connection.ts';
import { setStreamStatus } from './stream-status.ts';
import { queryKeysToRefresh } from './query-keys-to-refresh.ts';

const REFRESH_DELAY_MS = 150;

/** Follows the live stream until aborted and keeps the cache up to date. */
export async function followEvents(queryClient: QueryClient, signal: AbortSignal) {
  const refresh = refreshInBatches(queryClient);
  const onMessage = (message: StreamMessage) => {
    switch (message.kind) {
      case 'event':
        refresh(queryKeysToRefresh(message.event));
        break;
      case 'status':
        setStreamStatus(message.status === 'open' ? 'open' : 'lost');
        // Events between the first load and the open stream were missed.
        if (message.status === 'open') void queryClient.invalidateQueries();
        else void checkConnection();
        break;
      case 'refused':
        setStreamStatus('lost');
        if (message.httpStatus === 401) clearSignIn();
    }
  };
  try {
    await followSharedStream(signal, onMessage);
  } catch {
    setStreamStatus('lost');
  }
}

/**
 * A launch makes many events in a moment; each answer is fetched again once for all of them. An answer under way is left to
 * arrive before it is fetched again: it may be older than the event, and starting over for each event would never end.
 */
function refreshInBatches(queryClient: QueryClient) {
  const waiting = new Map<string, QueryKey>();
  const underWay = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = () => {
    timer ??= setTimeout(refresh, REFRESH_DELAY_MS);
  };
  const refresh = () => {
    timer = undefined;
    for (const [name, queryKey] of waiting) {
      if (underWay.has(name)) continue;
      waiting.delete(name);
      underWay.add(name);
      void queryClient.invalidateQueries({ queryKey }).finally(() => {
        underWay.delete(name);
        if (waiting.has(name)) start();
      });
    }
  };
  return (keys: QueryKey[]) => {
    for (const key of keys) waiting.set(JSON.stringify(key), key);
    if (keys.length > 0) start();
  };
}
