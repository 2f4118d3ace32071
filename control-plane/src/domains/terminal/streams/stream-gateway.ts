import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { joinSocket } from '@gpuaas/contracts/join-socket';
import { Problem } from '../../../platform/http/problem.ts';
import { refuseUpgrade } from '../../../platform/http/refuse-upgrade.ts';
import { AccessRefused } from '../access-watch.ts';
import { STREAM_PATH } from '../routes.ts';
import type { GatewayParts } from '../terminal-gateway.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';
import { openGuestStream } from '../tunnel/open-guest-stream.ts';
import { pingUntilDead } from '../tunnel/ping-until-dead.ts';
import { openStreamToken, type PortAccess } from './stream-token.ts';

const MAX_OPENING = 500;

/** Bytes between a program and a port of a machine: the token stands in the request, so a refusal is an HTTP answer. */
export class StreamGateway {
  readonly #parts: Omit<GatewayParts, 'tokens'>;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 1024 * 1024,
    perMessageDeflate: false,
  });
  #opening = 0;

  constructor(parts: Omit<GatewayParts, 'tokens'>) {
    this.#parts = parts;
  }

  static isStreamPath(url: string | undefined): boolean {
    return url?.split('?')[0] === STREAM_PATH;
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#opening += 1;
    this.#open(request, socket, head)
      .catch((error: unknown) => {
        this.#parts.metrics.refused('port');
        const problem = problemOf(error);
        if (problem.status >= 500)
          this.#parts.services.log.warn({ err: error }, 'stream could not be opened');
        refuseUpgrade(socket, problem);
      })
      .finally(() => (this.#opening -= 1));
  }

  close(): void {
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  async #open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { services, hub, watch } = this.#parts;
    // No page has a use for this; one that tries means no good.
    if (request.headers.origin !== undefined) throw new Problem('forbidden', 'Browsers open no streams.');
    if (this.#opening > MAX_OPENING)
      throw new Problem('rate_limited', 'Too many streams are being opened at once.', {
        retryAfterSeconds: 1,
      });
    const access = openStreamToken(services, bearerOf(request));
    if (!access)
      throw new Problem('unauthenticated', 'The stream token is not one of ours, or it has expired.');
    let stream: Duplex | null = null;
    let cut = (): void => void (socket.destroy(), stream?.destroy());
    const { machine, leave } = await watch.enter(access, () => cut());
    socket.once('close', leave);
    try {
      stream = await openGuestStream(services, hub, { ...access, nodeId: machine.nodeId });
    } catch (error) {
      leave();
      throw error;
    }
    if (socket.destroyed) return void stream.destroy();
    const guest = stream;
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      cut = () => {
        ws.terminate();
        guest.destroy();
      };
      this.#join(ws, guest, access, machine.organizationId, leave);
    });
  }

  #join(ws: WebSocket, guest: Duplex, access: PortAccess, organizationId: string, leave: () => void): void {
    const { services, metrics } = this.#parts;
    const { allocationId: allocation_id, actorId: actor_id, port, correlationId: correlation_id } = access;
    const log = services.log.child({ allocation_id, actor_id, port, correlation_id });
    const metered = metrics.opened('port');
    const stopPinging = pingUntilDead(ws);
    const opened = performance.now();
    log.info('stream open');
    joinSocket(ws, guest, {
      idleMs: services.policies.get('access.stream_idle_seconds', { organizationId }) * 1000,
      onSent: metered.fromGuest,
      onReceived: metered.toGuest,
      onClose: ({ sent, received }) => {
        stopPinging();
        metered.close();
        leave();
        const seconds = Math.round((performance.now() - opened) / 1000);
        log.info({ bytes_in: received, bytes_out: sent, seconds }, 'stream closed');
      },
    });
  }
}

function bearerOf({ headers }: IncomingMessage): string {
  return /^Bearer (\S{1,2000})$/.exec(headers.authorization ?? '')?.[1] ?? '';
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof AccessRefused) {
    if (error.why === 'forbidden') return new Problem('forbidden', error.message);
    if (error.why === 'not_active') return new Problem('allocation_not_active', error.message);
    return new Problem('too_many_streams', error.message, { retryAfterSeconds: 5 });
  }
  if (error instanceof GuestUnreachableError)
    return new Problem('guest_unreachable', `The machine cannot be reached: ${error.message}.`);
  return new Problem('internal_error', 'The failure is logged.');
}
