import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { escapeHtml } from '../../../platform/escape-html.ts';
import { endSocket } from '../../../platform/http/wire/end-socket.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { AccessRefusedError } from '../access-watch.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';

/** Our own answers on an app's origin run nothing, embed nothing and are not stored. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-store'],
  [
    'content-security-policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['origin-agent-cluster', '?1'],
];

/** The agent's reason for refusing a further stream into a machine. */
const TOO_MANY_STREAMS = 'too_many_streams';

/** Seconds until a browser looks again whether the app has started. */
const LOOK_AGAIN_SECONDS = 2;

interface Answer {
  status: number;
  headers: readonly (readonly [string, string])[];
  body: string;
}

function answerOf(problem: Problem): Answer {
  const correlationId = newId();
  const { retryAfterSeconds } = problem.options;
  return {
    status: problem.status,
    headers: [
      ...HEADERS,
      ['content-type', 'application/problem+json'],
      ['x-correlation-id', correlationId],
      ...(retryAfterSeconds === undefined ? [] : [['retry-after', String(retryAfterSeconds)] as const]),
      ...(problem.status === 401 ? [['www-authenticate', 'Bearer realm="gpuaas"'] as const] : []),
    ],
    body: JSON.stringify(problem.toJson(correlationId)),
  };
}

export function refuse(response: ServerResponse, problem: Problem): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, headers, body } = answerOf(problem);
  // An unread body must not be parsed as the next request.
  response.writeHead(status, [...headers, ['connection', 'close']].flat()).end(body);
}

export function refuseSocket(socket: Duplex, problem: Problem): void {
  const { status, headers, body } = answerOf(problem);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const start = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`;
  endSocket(socket, [start, ...lines, length, 'connection: close', '', body].join('\r\n'));
}

export function redirect(response: ServerResponse, location: string, cookies: readonly string[] = []): void {
  const set = cookies.flatMap((cookie) => ['set-cookie', cookie]);
  response.writeHead(303, [...HEADERS.flat(), 'location', location, ...set]).end();
}

/** A page that loads itself again until the app has started. */
export function sendStarting(response: ServerResponse, { name }: { name: string }): void {
  const page = `<!doctype html><meta charset="utf-8"><title>Starting</title><p>${escapeHtml(name)} is starting. This page reloads until it answers.</p>`;
  const again = String(LOOK_AGAIN_SECONDS);
  response
    .writeHead(503, [
      ...HEADERS.flat(),
      ...['content-type', 'text/html; charset=utf-8', 'retry-after', again, 'refresh', again],
    ])
    .end(page);
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof AccessRefusedError) {
    if (error.why === 'forbidden') return new Problem('forbidden', error.message);
    if (error.why === 'not_active') return appNotRunning();
    return new Problem('too_many_streams', error.message, { retryAfterSeconds: 5 });
  }
  if (error instanceof GuestUnreachableError && error.message === TOO_MANY_STREAMS)
    return new Problem('too_many_streams', 'The app has as many connections as its machine takes.', {
      retryAfterSeconds: 5,
    });
  if (error instanceof GuestUnreachableError)
    return new Problem('guest_unreachable', `The app cannot be reached: ${error.message}.`);
  return new Problem('internal_error', 'The failure is logged.');
}

export function appNotRunning(): Problem {
  return new Problem('app_not_running', 'The app is not running.', { retryAfterSeconds: 5 });
}

export function unauthenticated(): Problem {
  return new Problem('unauthenticated', 'Open the app in a browser, or send an API key.');
}
