import { createServer, request as sendHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as sendHttps } from 'node:https';
import type { Duplex } from 'node:stream';

/** The API, and nothing else that the platform serves. */
const SERVED = '/api/v1/';
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-length',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'user-agent',
] as const;
const WITHHELD = new Set(['connection', 'keep-alive', 'set-cookie', 'transfer-encoding', 'upgrade']);
/** A connection without a complete request for so long is cut. */
const SILENCE_MS = 60_000;
export const MAX_CONNECTIONS = 64;

export interface PlatformDoor {
  accept(connection: Duplex): void;
  close(): void;
}

/**
 * What a guest reaches of the platform: requests to the API with a token that `admits` knows, passed on to `apiUrl`.
 * The server listens nowhere, so node applies neither its limit of connections nor its timeouts.
 */
export function servePlatform(
  apiUrl: string,
  admits: (token: string) => boolean,
  silenceMs = SILENCE_MS,
): PlatformDoor {
  const open = new Map<Duplex, NodeJS.Timeout>();
  const limitSilence = (connection: Duplex): void =>
    void open.set(
      connection,
      setTimeout(() => connection.destroy(), silenceMs),
    );
  const server = createServer((request, response) => {
    const { socket } = request;
    clearTimeout(open.get(socket));
    response.once('close', () => {
      if (open.has(socket)) limitSilence(socket);
    });
    const target = targetOf(apiUrl, request.url);
    if (!target) return refuse(response, 404, 'Only the API is served here.');
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!token || !admits(token))
      return refuse(response, 401, 'Send the token of an app instance in this machine as a bearer token.');
    pass(request, response, target);
  });
  return {
    accept(connection) {
      connection.on('error', () => connection.destroy());
      if (open.size >= MAX_CONNECTIONS) return void connection.destroy();
      limitSilence(connection);
      connection.once('close', () => {
        clearTimeout(open.get(connection));
        open.delete(connection);
      });
      server.emit('connection', connection);
    },
    close() {
      for (const connection of open.keys()) connection.destroy();
    },
  };
}

/** Null if the path leads elsewhere, also by dots or as a whole address. */
function targetOf(apiUrl: string, path: string | undefined): URL | null {
  if (!path?.startsWith(SERVED) || !URL.canParse(path, apiUrl)) return null;
  const target = new URL(path, apiUrl);
  return target.origin === new URL(apiUrl).origin && target.pathname.startsWith(SERVED) ? target : null;
}

function pass(request: IncomingMessage, response: ServerResponse, target: URL): void {
  const headers = Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => {
      const value = request.headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const send = target.protocol === 'https:' ? sendHttps : sendHttp;
  const asked = send(target, { method: request.method, headers });
  asked.on('error', () => {
    if (response.headersSent) response.destroy();
    else refuse(response, 502, 'The platform does not answer.');
  });
  asked.on('response', (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !WITHHELD.has(name));
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  const body = JSON.stringify({ title: status === 404 ? 'Not found' : 'Refused', status, detail });
  response.writeHead(status, { 'content-type': 'application/problem+json', connection: 'close' });
  response.end(body);
}
