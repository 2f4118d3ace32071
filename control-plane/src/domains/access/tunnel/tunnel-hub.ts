import http2 from 'node:http2';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer, type WebSocket } from 'ws';
import { toRealSocket } from '@gpuaas/contracts/real-socket';
import { tunnelKindOf, type TunnelKind } from '@gpuaas/contracts/tunnel';
import { newId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import { closeWhenUnresponsive } from './close-when-unresponsive.ts';

const SPEAKS_MS = 10_000;
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 8 * 1024 * 1024;
/** Limits the memory that one host can occupy with headers and unread bytes. */
const MAX_SESSION_MEGABYTES = 64;

/** An authenticated host, and the certificate that proved it. */
export interface TunnelOwner {
  nodeId: string;
  certificate: { serialNumber: string } | null;
}

interface Tunnel {
  session: http2.ClientHttp2Session;
  owner: TunnelOwner;
  kind: TunnelKind;
}

/** Names a tunnel: a host has one of each kind. */
export interface TunnelName {
  nodeId: string;
  kind: TunnelKind;
}

export interface TunnelWatcher {
  opened(tunnel: TunnelName): void;
  closed(tunnel: TunnelName): void;
}

/** The tunnels of the agents connected to this process, one of each kind per node; the newest wins. */
export class TunnelHub {
  /** Names this process among the gateways. */
  readonly replicaId = newId();
  readonly #tunnels = new Map<string, Tunnel>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 1024 * 1024,
    perMessageDeflate: false,
  });
  readonly #log: Logger;
  readonly #metrics: StreamMetrics;
  #watcher: TunnelWatcher | null = null;

  constructor(log: Logger, metrics: StreamMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Reports tunnels that open and close from now on. */
  watch(watcher: TunnelWatcher): void {
    this.#watcher = watcher;
  }

  /** Handles the upgrade of an already authenticated node. */
  accept(owner: TunnelOwner, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      // The stream must exist before the first await, or the agent's first bytes are lost.
      const stream = createWebSocketStream(ws, { allowHalfOpen: false });
      ws.on('error', () => ws.terminate());
      stream.on('error', () => undefined);
      this.#open(owner, tunnelKindOf(request.url) ?? 'terminals', ws, stream).catch((error: unknown) => {
        this.#log.warn({ err: error, node_id: owner.nodeId }, 'tunnel could not be opened');
        ws.terminate();
      });
    });
  }

  static isTunnelPath(url: string | undefined): boolean {
    return tunnelKindOf(url) !== null;
  }

  session(nodeId: string, kind: TunnelKind = 'terminals'): http2.ClientHttp2Session | undefined {
    const session = this.#tunnels.get(keyOf({ nodeId, kind }))?.session;
    return session?.destroyed ? undefined : session;
  }

  /** Hosts whose terminals this process serves. */
  nodeIds(): string[] {
    return this.open().flatMap(({ nodeId, kind }) => (kind === 'terminals' ? [nodeId] : []));
  }

  open(): TunnelName[] {
    return Array.from(this.#tunnels.values(), ({ owner, kind }) => ({ nodeId: owner.nodeId, kind }));
  }

  /** Serial numbers of the certificates that opened the tunnels here. */
  certificates(): string[] {
    return [...this.#tunnels.values()].flatMap(({ owner }) => owner.certificate?.serialNumber ?? []);
  }

  /** Ends the tunnels opened with these certificates, with all their streams. */
  cut(serialNumbers: readonly string[]): void {
    const ended = new Set(serialNumbers);
    for (const { session, owner } of this.#tunnels.values()) {
      if (owner.certificate && ended.has(owner.certificate.serialNumber)) session.destroy();
    }
  }

  close(): void {
    for (const { session } of this.#tunnels.values()) session.destroy();
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  async #open(owner: TunnelOwner, kind: TunnelKind, ws: WebSocket, stream: Duplex): Promise<void> {
    const { nodeId } = owner;
    const socket = await toRealSocket(stream);
    // The agent opened the connection, but requests go from here to the agent.
    const session = http2.connect('http://agent.tunnel', {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: MAX_SESSION_MEGABYTES,
    });
    const silence = setTimeout(() => session.destroy(), SPEAKS_MS);
    const stopPinging = closeWhenUnresponsive(ws);
    session.on('error', (error) => this.#log.debug({ err: error, node_id: nodeId }, 'tunnel failed'));
    // Node also emits 'connect' for a session that ended before it started.
    session.once('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(CONNECTION_WINDOW);
    });
    // It counts as a tunnel once it answers in HTTP/2.
    session.once('remoteSettings', () => {
      clearTimeout(silence);
      if (!session.destroyed) this.#register({ session, owner, kind });
    });
    session.on('close', () => {
      clearTimeout(silence);
      stopPinging();
      ws.terminate();
      this.#forget({ nodeId, kind }, session);
    });
    ws.on('close', () => session.destroy());
    if (ws.readyState !== ws.OPEN) session.destroy();
  }

  #register(tunnel: Tunnel): void {
    const name = { nodeId: tunnel.owner.nodeId, kind: tunnel.kind };
    const before = this.#tunnels.get(keyOf(name));
    this.#tunnels.set(keyOf(name), tunnel);
    before?.session.destroy();
    this.#countHosts();
    this.#log.info({ node_id: name.nodeId, kind: name.kind }, 'tunnel open');
    this.#watcher?.opened(name);
  }

  #forget(name: TunnelName, session: http2.ClientHttp2Session): void {
    if (this.#tunnels.get(keyOf(name))?.session !== session) return;
    this.#tunnels.delete(keyOf(name));
    this.#countHosts();
    this.#log.info({ node_id: name.nodeId, kind: name.kind }, 'tunnel closed');
    this.#watcher?.closed(name);
  }

  #countHosts(): void {
    this.#metrics.tunnels.set(this.nodeIds().length);
  }
}

function keyOf({ nodeId, kind }: TunnelName): string {
  return `${kind} ${nodeId}`;
}
