import http2 from 'node:http2';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer, type WebSocket } from 'ws';
import { asSocket } from '@gpuaas/contracts/socket-pair';
import { TUNNEL_PATH } from '@gpuaas/contracts/tunnel';
import type { Logger } from '../../platform/telemetry/logger.ts';

const PING_MS = 10_000;

/** The tunnels of the agents connected to this process, one per node; the newest wins. */
export class TunnelHub {
  readonly #sessions = new Map<string, http2.ClientHttp2Session>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 1024 * 1024,
    perMessageDeflate: false,
  });
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes over the upgrade of an already authenticated node. */
  accept(nodeId: string, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      // The stream must exist before anything is awaited, or the agent's first bytes are lost.
      const stream = createWebSocketStream(ws, { allowHalfOpen: false });
      this.#open(nodeId, ws, stream).catch((error: unknown) => {
        this.#log.warn({ err: error, node_id: nodeId }, 'tunnel could not be opened');
        ws.terminate();
      });
    });
  }

  static isTunnelPath(url: string | undefined): boolean {
    return url?.split('?')[0] === TUNNEL_PATH;
  }

  session(nodeId: string): http2.ClientHttp2Session | undefined {
    return this.#sessions.get(nodeId);
  }

  nodeIds(): string[] {
    return [...this.#sessions.keys()];
  }

  /** Ends the tunnel of a host that may no longer have one, with every stream in it. */
  cut(nodeId: string): void {
    this.#sessions.get(nodeId)?.destroy();
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  async #open(nodeId: string, ws: WebSocket, stream: Duplex): Promise<void> {
    const socket = await asSocket(stream);
    // The agent opened the connection, but requests run from here to there.
    const session = http2.connect('http://agent.tunnel', { createConnection: () => socket });
    this.#sessions.get(nodeId)?.destroy();
    this.#sessions.set(nodeId, session);
    const stopPinging = pingUntilDead(ws);
    this.#log.info({ node_id: nodeId }, 'tunnel open');
    const forget = (): void => {
      stopPinging();
      ws.terminate();
      if (this.#sessions.get(nodeId) !== session) return;
      this.#sessions.delete(nodeId);
      this.#log.info({ node_id: nodeId }, 'tunnel closed');
    };
    session.on('error', (error) => this.#log.debug({ err: error, node_id: nodeId }, 'tunnel failed'));
    session.on('close', forget);
    ws.on('close', () => session.destroy());
  }
}

/** A half-open peer answers no ping; two missed ones end it. */
function pingUntilDead(ws: WebSocket): () => void {
  let unanswered = 0;
  ws.on('pong', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered >= 2) ws.terminate();
    unanswered += 1;
    ws.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
