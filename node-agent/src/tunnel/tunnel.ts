import { once } from 'node:events';
import { TUNNEL_KINDS, TUNNEL_PATHS, type TunnelKind } from '@gpuaas/contracts/tunnel';
import { createWebSocketStream, WebSocket } from 'ws';
import { Backoff } from '../backoff.ts';
import type { Identity } from '../identity/identity.ts';
import type { Link } from '../link.ts';
import { errorMessage } from '../logger.ts';
import { serveStreams, type StreamServer } from './serve-streams.ts';
import { UsedGrants } from './used-grants.ts';
import { toRealSocket } from '@gpuaas/contracts/real-socket';

const PING_EVERY_MS = 10_000;
const DEAD_AFTER_MS = 30_000;
const HANDSHAKE_MS = 10_000;
/** A connection that lived this long was a good one: the next attempt starts without delay. */
const STABLE_MS = 10_000;

/** Keeps the outbound connections to the gateway until the signal fires. A grant opens one stream, in any of them. */
export async function maintainTunnels(
  server: URL,
  streams: StreamServer,
  link: Link,
  signal: AbortSignal,
): Promise<void> {
  const used = new UsedGrants();
  await Promise.all(
    TUNNEL_KINDS.map((kind) => {
      const end = { url: new URL(TUNNEL_PATHS[kind], server), kind };
      const log = streams.log.child({ tunnel: kind });
      return maintainTunnel(end, { ...streams, log }, used, link, signal);
    }),
  );
}

/** The gateway's end of a tunnel. */
interface TunnelEnd {
  url: URL;
  kind: TunnelKind;
}

async function maintainTunnel(
  end: TunnelEnd,
  streams: StreamServer,
  used: UsedGrants,
  link: Link,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(500, 15_000);
  while (!signal.aborted) {
    const started = Date.now();
    try {
      await holdTunnel(end, streams, used, AbortSignal.any([signal, link.signal()]));
      streams.log.info('tunnel closed');
    } catch (error) {
      if (!signal.aborted) streams.log.warn({ reason: errorMessage(error) }, 'tunnel lost');
    }
    if (Date.now() - started > STABLE_MS) backoff.reset();
    await backoff.wait(signal);
  }
}

async function holdTunnel(
  { url, kind }: TunnelEnd,
  streams: StreamServer,
  used: UsedGrants,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const socket = openSocket(url, streams.identity());
  socket.on('error', () => undefined);
  const cut = (): void => socket.terminate();
  signal.addEventListener('abort', cut, { once: true });
  try {
    // Listen before the connection is open: the gateway's first bytes may come with its response.
    const messages = createWebSocketStream(socket, { allowHalfOpen: false });
    messages.on('error', () => undefined);
    await once(socket, 'open');
    streams.log.info('tunnel open');
    const connection = await toRealSocket(messages);
    const session = serveStreams(connection, streams, kind, used);
    const watch = watchPeer(socket);
    try {
      if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close');
    } finally {
      clearInterval(watch);
      session.destroy();
    }
  } finally {
    signal.removeEventListener('abort', cut);
    socket.terminate();
  }
}

function openSocket(url: URL, identity: Identity): WebSocket {
  url.protocol = 'wss:';
  return new WebSocket(url, {
    ca: identity.ca_bundle_pem,
    cert: identity.certificate_pem,
    key: identity.private_key_pem,
    minVersion: 'TLSv1.3',
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    maxPayload: 16 * 1024 * 1024,
    generateMask: keepZero,
  });
}

/**
 * A mask of zeros, which ws does not apply. Masks protect proxies that read along from bytes that a script chose; TLS
 * ends at the gateway, so nobody reads along, and every byte of a download would be turned twice.
 */
function keepZero(mask: Buffer): void {
  mask.fill(0);
}

/** A peer that is silent for too long is dead, whatever TCP still believes. */
function watchPeer(socket: WebSocket): NodeJS.Timeout {
  let lastSeen = Date.now();
  const note = (): void => void (lastSeen = Date.now());
  socket.on('pong', note);
  socket.on('ping', note);
  socket.on('message', note);
  return setInterval(() => {
    if (Date.now() - lastSeen > DEAD_AFTER_MS) return socket.terminate();
    socket.ping();
  }, PING_EVERY_MS);
}
