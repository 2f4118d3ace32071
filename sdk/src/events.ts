import type { TokenSource } from './access-token.ts';
import { backoffMs, sleep, retryAfterMs } from './sleep.ts';

/** An event; `payload` has the shape of its `event_type` in the event catalogue. */
export interface EventEnvelope {
  event_id: string;
  event_type: string;
  occurred_at: string;
  version: number;
  correlation_id: string;
  payload: Record<string, unknown>;
}

/** Address of the platform, credentials, and the starting point. */
export interface SubscribeOptions {
  baseUrl: string;
  apiKey?: string;
  /** Instead of a key; see {@link TokenSource}. */
  accessToken?: TokenSource;
  /** Resume after this event; without it the stream starts now. */
  lastEventId?: string;
  signal: AbortSignal;
  fetch?: typeof globalThis.fetch;
  /** Called when the stream opens or is lost; it reconnects automatically. */
  onStatus?: (status: 'open' | 'reconnecting') => void;
}

/** The live stream as async iteration. Reconnects with `Last-Event-ID`, so no event is missed. */
export async function* subscribeEvents(options: SubscribeOptions): AsyncGenerator<EventEnvelope> {
  let lastId = options.lastEventId;
  let attempt = 0;
  while (!options.signal.aborted) {
    let wait: number | null = null;
    try {
      for await (const message of readStream(options, lastId)) {
        attempt = 0;
        if (message.id !== undefined) lastId = message.id;
        if (message.data !== '') yield JSON.parse(message.data) as EventEnvelope;
      }
    } catch (error) {
      if (options.signal.aborted) return;
      if (error instanceof StreamRefusedError) throw error;
      if (error instanceof StreamBusyError) wait = error.retryAfterMs;
    }
    options.onStatus?.('reconnecting');
    attempt += 1;
    await sleep(Math.min(wait ?? backoffMs(attempt, 10_000), 30_000), options.signal);
  }
}

/** The server refused the stream (signed out, no rights): reconnecting would not help. */
export class StreamRefusedError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the event stream was refused with ${status}`);
    this.status = status;
  }
}

/** The server has no capacity for the stream now; it may say when to retry. */
class StreamBusyError extends Error {
  readonly retryAfterMs: number | null;

  constructor(response: Response) {
    super(`the event stream answered ${response.status}`);
    this.retryAfterMs = retryAfterMs(response);
  }
}

interface Message {
  id?: string;
  data: string;
}

async function* readStream(options: SubscribeOptions, lastId: string | undefined): AsyncGenerator<Message> {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (lastId) headers['last-event-id'] = lastId;
  const response = await connect(options, headers);
  if (response.status === 429 || response.status >= 500) throw new StreamBusyError(response);
  if (response.status >= 400) throw new StreamRefusedError(response.status);
  if (!response.ok || !response.body) throw new Error(`event stream answered ${response.status}`);
  options.onStatus?.('open');
  let buffer = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      let end = buffer.indexOf('\n\n');
      while (end >= 0) {
        yield parseMessage(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
        end = buffer.indexOf('\n\n');
      }
    }
  } finally {
    // A consumer that stops reading closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

async function connect(options: SubscribeOptions, headers: Record<string, string>): Promise<Response> {
  const send = (bearer: string | null | undefined): Promise<Response> =>
    (options.fetch ?? fetch)(`${options.baseUrl}/api/v1/events/stream`, {
      headers: { ...headers, ...(bearer && { authorization: `Bearer ${bearer}` }) },
      signal: options.signal,
    });
  if (options.apiKey !== undefined || !options.accessToken) return await send(options.apiKey);
  const token = await options.accessToken();
  const response = await send(token);
  if (response.status !== 401 || token === null) return response;
  const another = await options.accessToken(token);
  return another === null || another === token ? response : await send(another);
}

function parseMessage(block: string): Message {
  const message: Message = { data: '' };
  for (const line of block.split('\n')) {
    if (line.startsWith('id:')) message.id = line.slice(3).trim();
    else if (line.startsWith('data:')) message.data += line.slice(5).trimStart();
  }
  return message;
}
