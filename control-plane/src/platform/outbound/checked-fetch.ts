import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { raceAbort } from './race-abort.ts';
import { resolveTarget, type Address, type TargetRules } from './target.ts';
import { first } from '../present.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const DEADLINE_MS = 10_000;

export interface CheckedRequest {
  method?: string;
  headers?: Record<string, string>;
  /** Text or a form. */
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

/**
 * A small `fetch` for addresses that a tenant chose: the name is resolved once, every address is checked, and
 * the connection goes to a checked address. It follows no redirects and reads at most a megabyte.
 */
export function checkedFetch(rules: () => TargetRules) {
  return async (target: string, { method = 'GET', headers = {}, body, signal }: CheckedRequest) => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const ends = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const { url, addresses } = await raceAbort(ends, resolveTarget(target, rules()));
    return await send(url, addresses, {
      method,
      headers,
      text: textOf(body),
      signal: ends,
    });
  };
}

function textOf(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('only text and forms are sent');
}

interface Message {
  method: string;
  headers: Record<string, string>;
  text: string | null;
  signal: AbortSignal;
}

async function send(url: URL, addresses: Address[], message: Message): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { text, method, signal } = message;
  const length = text === null ? {} : { 'content-length': String(Buffer.byteLength(text)) };
  const request = open(url, {
    method,
    signal,
    agent: false,
    lookup: answering(addresses),
    headers: { ...message.headers, ...length },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too large'));
    });
    response.on('error', reject);
    response.on('end', () => {
      const status = response.statusCode ?? 500;
      const empty = [204, 205, 304].includes(status);
      const type = { 'content-type': response.headers['content-type'] ?? '' };
      resolve(new Response(empty ? null : Buffer.concat(chunks), { status, headers: type }));
    });
  });
  request.end(text ?? undefined);
  return await promise;
}

function answering(addresses: Address[]): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all) callback(null, addresses);
    else callback(null, first(addresses, 'address').address, first(addresses, 'address').family);
  };
}
