import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { raceAbort } from '../../platform/outbound/race-abort.ts';
import {
  resolveTarget,
  TargetRefusedError,
  type Address,
  type TargetRules,
} from '../../platform/outbound/target.ts';
import { first } from '../../platform/present.ts';

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Outcome {
  status: number | null;
  /** Null if the endpoint accepted the message. */
  error: string | null;
  durationMs: number;
}

export const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024;

/** One attempt: resolve, check, connect to the checked address, post, read a small part of the reply. */
export async function postMessage(
  message: Message,
  rules: TargetRules,
  deadlineMs = DEADLINE_MS,
): Promise<Outcome> {
  const started = performance.now();
  const signal = AbortSignal.timeout(deadlineMs);
  const outcome = (status: number | null, error: string | null): Outcome => ({
    status,
    error,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    const { url, addresses } = await raceAbort(signal, resolveTarget(message.url, rules));
    const status = await post(url, addresses, message, signal);
    if (status >= 200 && status < 300) return outcome(status, null);
    if (status >= 300 && status < 400)
      return outcome(status, `answered ${status}; redirects are not followed`);
    return outcome(status, `answered ${status}`);
  } catch (error) {
    if (signal.aborted) return outcome(null, `did not answer within ${deadlineMs / 1000} s`);
    return outcome(null, reasonOf(error));
  }
}

function post(url: URL, addresses: Address[], message: Message, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, {
    method: 'POST',
    // One connection per attempt: tenants share none, and each goes to an address that was checked.
    agent: false,
    lookup: answering(addresses),
    signal,
    headers: {
      ...message.headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(message.body)),
      'user-agent': 'gpuaas-webhooks/1',
    },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    response.on('error', reject);
    drain(response, () => resolve(response.statusCode ?? 0));
  });
  request.end(message.body);
  return promise;
}

function drain(response: IncomingMessage, done: () => void): void {
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= MAX_ANSWER_BYTES) return;
    done();
    response.destroy();
  });
  response.on('end', done);
}

function answering(addresses: Address[]): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all) callback(null, addresses);
    else callback(null, first(addresses, 'address').address, first(addresses, 'address').family);
  };
}

/** Text for the tenant's log: the fault, without details of our network. */
function reasonOf(error: unknown): string {
  if (error instanceof TargetRefusedError) return `not sent: ${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `no connection (${code})` : 'no connection';
}
