import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { AppRefusal } from './app-refusal.ts';

export interface WebApp {
  name: string;
  answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | void;
  /** WebSocket connections; without it they are refused. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, url: URL): void;
  /** The body of a refusal, in the words of the app's protocol. */
  describe(refusal: AppRefusal): object;
  /** Ends streams and child processes, so that the server can close. */
  stop?(): Promise<void> | void;
}

const GRACE_MS = 5000;

/**
 * Serves an app until SIGTERM or SIGINT: then it takes no new connection, lets open requests end within five seconds,
 * and exits with 0. The gateway is the only way in, so it listens on the loopback alone.
 */
export async function serveApp(app: WebApp, defaultPort: number): Promise<void> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      // A client that sends its body slower than this gives up its place.
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: 16_384,
    },
    (request, response) => void answerRequest(app, request, response),
  );
  server.maxConnections = 1024;
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const url = urlOf(request);
    if (url && app.upgrade) app.upgrade(request, socket, head, url);
    else refuseUpgrade(socket, 404, 'Not Found');
  });
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), GRACE_MS).unref();
    const closed = new Promise((resolve) => server.close(resolve));
    await app.stop?.();
    server.closeIdleConnections();
    await closed;
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  const host = process.env['HOST'] ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(readPort(defaultPort), host, resolve);
  });
  process.stdout.write(`${app.name} listens on http://${host}:${listeningPort(server)}\n`);
}

/** Refuses a WebSocket before it opens. */
export function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
    .end(JSON.stringify(body));
}

/** Answers a request, also one that the app refuses or fails at. */
export async function answerRequest(
  app: Pick<WebApp, 'answer' | 'describe'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = urlOf(request);
    if (!url) throw new AppRefusal(400, 'bad_target', 'The request target is not a path.');
    await app.answer(request, response, url);
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const refusal =
      error instanceof AppRefusal ? error : new AppRefusal(500, 'internal_error', 'The app failed.');
    if (refusal !== error) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    // The rest of a refused body is not read: the connection cannot serve another request.
    if (!request.complete) response.setHeader('connection', 'close');
    sendJson(response, refusal.status, app.describe(refusal));
  }
}

function urlOf(request: IncomingMessage): URL | null {
  const target = request.url ?? '';
  return target.startsWith('/') ? URL.parse(`http://app${target}`) : null;
}

function readPort(defaultPort: number): number {
  const text = process.env['PORT'] ?? String(defaultPort);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`PORT is ${text}, which is no port`);
  return port;
}
