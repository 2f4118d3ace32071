import { StreamRefusedError, subscribeEvents, type EventEnvelope } from '@gpuaas/sdk/events';

/** What the tabs of a browser tell each other about the one stream they share. */
export type StreamMessage =
  | { kind: 'event'; event: EventEnvelope }
  | { kind: 'status'; status: 'open' | 'reconnecting' }
  | { kind: 'refused'; httpStatus: number };

type TabMessage = StreamMessage | { kind: 'hello' };

const NAME = 'gpuaas-event-stream';

/**
 * One stream for all tabs: the tab that holds the lock reads it and tells the others, and when it closes the
 * next one takes over. A browser allows only few connections to one server, and each tab would keep one.
 */
export async function followSharedStream(signal: AbortSignal, hear: (message: StreamMessage) => void) {
  // Without a secure context there are no locks; then the tab reads for itself.
  if (!('locks' in navigator)) return await readStream(signal, hear);
  const channel = new BroadcastChannel(NAME);
  signal.addEventListener('abort', () => channel.close(), { once: true });
  let last: StreamMessage | null = null;
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind !== 'hello') hear(data);
    else if (last) channel.postMessage(last);
  });
  channel.postMessage({ kind: 'hello' } satisfies TabMessage);
  const lead = () =>
    readStream(signal, (message) => {
      if (message.kind === 'status') last = message;
      if (!signal.aborted) channel.postMessage(message);
      hear(message);
    });
  await navigator.locks.request(NAME, { signal }, lead).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function readStream(signal: AbortSignal, hear: (message: StreamMessage) => void) {
  const onStatus = (status: 'open' | 'reconnecting') => hear({ kind: 'status', status });
  try {
    for await (const event of subscribeEvents({ baseUrl: location.origin, signal, onStatus })) {
      hear({ kind: 'event', event });
    }
  } catch (error) {
    if (!(error instanceof StreamRefusedError)) throw error;
    hear({ kind: 'refused', httpStatus: error.status });
  }
}
