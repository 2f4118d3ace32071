import { useSyncExternalStore } from 'react';

/** Whether live events arrive; while they do not, the console polls. */
export type StreamStatus = 'connecting' | 'open' | 'lost';

let status: StreamStatus = 'connecting';
const listeners = new Set<() => void>();

export function setStreamStatus(next: StreamStatus) {
  if (next === status) return;
  status = next;
  for (const listener of listeners) listener();
}

export function useStreamStatus(): StreamStatus {
  return useSyncExternalStore(subscribe, () => status);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
