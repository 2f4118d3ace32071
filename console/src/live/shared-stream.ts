import { StreamRefusedError, subscribeEvents, type EventEnvelope } from '@gpuaas/sdk/events';

/** Messages between the tabs of a browser about their shared stream. */
export type StreamMessage =
  | { kind: 'event'; event: EventEnvelope }
  | { kind: 'status'; status: 'open' | 'reconnecting' }
  | { kind: 'refused'; httpStatus: number };

type TabMessage = StreamMessage | { kind: 'hello' };

const NAME = 'gpuaas-event-stream';

/**
 * One stream for all tabs: the tab that holds the lock reads it and passes events to the others; when it
 * closes, the next one takes over. A browser allows only few connections to one server, and each tab would
 * keep one.
 */
export async function followSharedStream(signal: AbortSignal, onMessage: (message: StreamMessage) => void) {
  // Without a secure context there are no locks; each tab then reads its own stream.
  if (!('locks' in navigator)) return await readStream(signal, onMessage);
  const channel = new BroadcastChannel(NAME);
  signal.addEventListener('abort', () => channel.close(), { once: true });
  let last: StreamMessage | null = null;
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind !== 'hello') onMessage(data);
    else if (last) channel.postMessage(last);
  });
  channel.postMessage({ kind: 'hello' } satisfies TabMessage);
  const lead = () =>
    readStream(signal, (message) => {
      if (message.kind === 'status') last = message;
      if (!signal.aborted) channel.postMessage(message);
      onMessage(message);
    });
  await navigator.locks.request(NAME, { signal }, lead).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function readStream(signal: AbortSignal, onMessage: (message: StreamMessage) => void) {
  const onStatus = (status: 'open' | 'reconnecting') => onMessage({ kind: 'status', status });
  try {
    for await (const event of subscribeEvents({ baseUrl: location.origin, signal, onStatus })) {
      onMessage({ kind: 'event', event });
    }
  } catch (error) {
    if (!(error instanceof StreamRefusedError)) throw error;
    onMessage({ kind: 'refused', httpStatus: error.status });
  }
}
