import { once } from 'node:events';
import { createServer } from 'node:http';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { Problem } from '../../../platform/http/problem.ts';
import { KEEP_ALIVE_MS } from '../../../platform/http/keep-alive.ts';
import { guardSockets } from '../../../platform/http/wire/guard-sockets.ts';
import { refuseSocket } from './refuse.ts';
import type { AppOriginDoor } from './app-origin-door.ts';
import { isWebSocket } from './forward-upgrade.ts';

/** A client that takes longer to send its headers is cut, at the next look. */
const HEADERS_MS = 10_000;
const LOOK_MS = 2_000;
const DRAIN_MS = 5_000;

export interface AppsListener {
  port: number;
  stop(): Promise<void>;
}

/**
 * The listener of apps. It has no limit on the time of a request: an upload may take hours. Anything that node does not
 * parse strictly (two lengths, a bare line feed, an unknown encoding) is refused.
 */
export async function serveApps(
  door: AppOriginDoor,
  options: { host: string; port: number; maxConnections: number },
): Promise<AppsListener> {
  const server = createServer(
    {
      requestTimeout: 0,
      headersTimeout: HEADERS_MS,
      connectionsCheckingInterval: LOOK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      insecureHTTPParser: false,
      noDelay: true,
      // Any other upgrade is ignored: the request is served without it.
      shouldUpgradeCallback: isWebSocket,
    },
    (request, response) => door.handle(request, response),
  );
  server.maxConnections = options.maxConnections;
  guardSockets(server);
  server.on('upgrade', (request, socket, head) => door.upgrade(request, socket, head));
  server.on('clientError', (error, socket) => {
    if (socket.writable) refuseSocket(socket, clientFault(error));
    else socket.destroy();
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: listeningPort(server),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const overdue = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(overdue);
    },
  };
}

function clientFault({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', `Send the headers within ${HEADERS_MS / 1000} s.`);
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'Send fewer or shorter headers.');
    default:
      return new Problem('invalid_request', 'The request is malformed.');
  }
}
