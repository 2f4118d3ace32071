import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { GRANT_HEADER, REASON_HEADER } from '@gpuaas/contracts/tunnel';
import type { Host } from '../host/host.ts';
import type { Identity } from '../identity/identity.ts';
import { reasonOf, type Logger } from '../log.ts';
import { checkGrant } from './check-grant.ts';
import type { GuestStreams } from './guest-streams.ts';

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
const MAX_STREAMS = 1024;
const MAX_STREAMS_PER_ALLOCATION = 128;

/** Speaks HTTP/2 as the server on a connection that this agent opened: the gateway sends CONNECT, we pipe. */
export function serveStreams(connection: Duplex, server: StreamServer): ServerHttp2Session {
  const session = performServerHandshake(connection, {
    settings: { initialWindowSize: STREAM_WINDOW, maxConcurrentStreams: MAX_STREAMS },
  });
  session.setLocalWindowSize(CONNECTION_WINDOW);
  session.on('error', () => undefined);
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    open(stream, headers, server).catch((error: unknown) => {
      server.log.error({ reason: reasonOf(error) }, 'tunnel stream failed');
      stream.close();
    });
  });
  return session;
}

async function open(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  server: StreamServer,
): Promise<void> {
  if (headers[':method'] !== 'CONNECT') return refuse(stream, 405, 'connect_only', server.log);
  const verdict = checkGrant(headers[GRANT_HEADER], server.identity(), server.now());
  if (!verdict.ok) return refuse(stream, verdict.status, verdict.reason, server.log);
  const { allocation_id, port, grant_id, user_id } = verdict.grant;
  const log = server.log.child({ allocation_id, grant_id, user_id, port });
  if (server.streams.isRevoked(allocation_id)) return refuse(stream, 404, 'allocation_released', log);
  if (server.streams.count(allocation_id) >= MAX_STREAMS_PER_ALLOCATION) {
    return refuse(stream, 429, 'too_many_streams', log);
  }
  let guest: Duplex;
  try {
    guest = await server.host.openGuestPort(allocation_id, port);
  } catch (error) {
    return refuse(stream, 404, 'guest_unreachable', log.child({ reason: reasonOf(error) }));
  }
  // A release may have begun while the guest was dialled.
  if (stream.destroyed || server.streams.isRevoked(allocation_id)) {
    guest.destroy();
    return refuse(stream, 404, 'allocation_released', log);
  }
  server.streams.add(allocation_id, stream);
  stream.respond({ ':status': 200 });
  log.info('tunnel stream opened');
  join(stream, guest);
  stream.once('close', () => log.info('tunnel stream closed'));
}

/** Each half closes by itself, as TCP does: a client may end its input and still wait for the answer. */
function join(stream: ServerHttp2Stream, guest: Duplex): void {
  stream.pipe(guest);
  guest.pipe(stream);
  guest.on('error', () => stream.close(constants.NGHTTP2_CONNECT_ERROR));
  guest.once('close', () => {
    stream.end();
    stream.close(constants.NGHTTP2_NO_ERROR);
  });
  // A reset with code 0 does not close a stream that still has something to write; nobody will read it.
  stream.once('aborted', () => {
    guest.destroy();
    stream.destroy();
  });
  stream.once('close', () => {
    // What the client sent before it ended is still on its way into the guest.
    if (stream.readableEnded && !guest.writableFinished) guest.once('finish', () => guest.destroy());
    else guest.destroy();
  });
}

function refuse(stream: ServerHttp2Stream, status: number, reason: string, log: Logger): void {
  log.warn({ status, code: reason }, 'tunnel stream refused');
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ':status': status, [REASON_HEADER]: reason }, { endStream: true });
}
