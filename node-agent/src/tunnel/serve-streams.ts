import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Duplex, Readable } from 'node:stream';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import { GRANT_HEADER, REASON_HEADER, type TunnelKind } from '@gpuaas/contracts/tunnel';
import type { Host } from '../host/host.ts';
import type { Identity } from '../identity/identity.ts';
import { errorMessage, type Logger } from '../logger.ts';
import { checkGrant } from './check-grant.ts';
import type { GuestStreams } from './guest-streams.ts';
import { pipeStreams } from './pipe-streams.ts';
import { UsedGrants } from './used-grants.ts';

export interface StreamServer {
  host: Host;
  streams: GuestStreams;
  identity: () => Identity;
  /** The platform's time, by which it dates its grants. */
  now: () => Date;
  log: Logger;
}

const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 8 * 1024 * 1024;
/** Each WebSocket of an app is a stream. */
const MAX_STREAMS = { terminals: 1024, apps: 4096 } as const;
const MAX_STREAMS_PER_ALLOCATION = { terminals: 256, apps: 1024 } as const;
/** Limits the agent's memory for headers and unread bytes of all streams. */
const MAX_SESSION_MEGABYTES = 64;

/** Speaks HTTP/2 as the server on a connection that this agent opened: the gateway sends CONNECT, we pipe. */
export function serveStreams(
  connection: Duplex,
  server: StreamServer,
  kind: TunnelKind,
  used = new UsedGrants(),
): ServerHttp2Session {
  const session = performServerHandshake(connection, {
    settings: {
      initialWindowSize: STREAM_WINDOW,
      maxConcurrentStreams: MAX_STREAMS[kind],
      enablePush: false,
    },
    maxSessionMemory: MAX_SESSION_MEGABYTES,
  });
  session.setLocalWindowSize(CONNECTION_WINDOW);
  session.on('error', () => undefined);
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    open(stream, headers, server, kind, used).catch((error: unknown) => {
      server.log.error({ reason: errorMessage(error) }, 'tunnel stream failed');
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
  });
  return session;
}

async function open(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  server: StreamServer,
  kind: TunnelKind,
  used: UsedGrants,
): Promise<void> {
  if (headers[':method'] !== 'CONNECT') return refuse(stream, 405, 'connect_only', server.log);
  const verdict = checkGrant(
    { header: headers[GRANT_HEADER], authority: headers[':authority'] },
    server.identity(),
    used,
    server.now(),
  );
  if (!verdict.ok) return refuse(stream, 403, verdict.reason, server.log);
  const { allocation_id, resource, port, grant_id, user_id } = verdict.grant;
  const log = server.log.child({ allocation_id, grant_id, user_id, resource, port });
  const { streams } = server;
  if (streams.isRevoked(allocation_id)) return refuse(stream, 404, 'allocation_released', log);
  if (streams.count(allocation_id, kind) >= MAX_STREAMS_PER_ALLOCATION[kind]) {
    return refuse(stream, 429, 'too_many_streams', log);
  }
  // Counted from here: streams that are still being dialled count as well.
  streams.add(allocation_id, kind, stream);
  let guest: Duplex | Readable;
  try {
    guest = await openResource(server.host, verdict.grant);
  } catch (error) {
    return refuse(stream, 404, 'guest_unreachable', log.child({ reason: errorMessage(error) }));
  }
  // A release may have started while the guest was dialled.
  if (stream.destroyed || streams.isRevoked(allocation_id)) {
    guest.destroy();
    return refuse(stream, 404, 'allocation_released', log);
  }
  stream.respond({ ':status': 200 });
  log.info('tunnel stream opened');
  const opened = performance.now();
  const moved = pipeStreams(stream, guest);
  stream.once('close', () => {
    const seconds = Math.round((performance.now() - opened) / 1000);
    log.info({ bytes_in: moved.toGuest, bytes_out: moved.fromGuest, seconds }, 'tunnel stream closed');
  });
}

/** The guest is found by its allocation; the other side cannot choose an address. */
async function openResource(host: Host, grant: AccessGrant): Promise<Duplex | Readable> {
  return grant.port === null
    ? await host.openConsoleLog(grant.allocation_id)
    : await host.openGuestPort(grant.allocation_id, grant.port);
}

function refuse(stream: ServerHttp2Stream, status: number, reason: string, log: Logger): void {
  log.warn({ status, code: reason }, 'tunnel stream refused');
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ':status': status, [REASON_HEADER]: reason }, { endStream: true });
}
