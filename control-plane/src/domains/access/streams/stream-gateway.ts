import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { pipeSocket } from '@gpuaas/contracts/pipe-socket';
import { Problem } from '../../../platform/http/problem.ts';
import { addAnswerHeaders, refuseUpgrade } from '../../../platform/http/refuse-upgrade.ts';
import { AccessRefusedError } from '../access-watch.ts';
import { machineDoor } from '../machine-door.ts';
import { CLIENT_STREAM_PATH } from '../routes.ts';
import type { GatewayDependencies } from '../terminal/terminal-gateway.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';
import { openGuestStream } from '../tunnel/open-guest-stream.ts';
import { closeWhenUnresponsive } from '../tunnel/close-when-unresponsive.ts';
import { verifyStreamToken, type PortAccess } from './stream-token.ts';

const MAX_OPENING = 500;

/**
 * Streams between a program and a port of a machine: the token is in the request, so a refusal is an HTTP
 * response.
 */
export class StreamGateway {
  readonly #parts: Omit<GatewayDependencies, 'tokens'>;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 1024 * 1024,
    perMessageDeflate: false,
  });
  #opening = 0;

  constructor(parts: Omit<GatewayDependencies, 'tokens'>) {
    this.#parts = parts;
    addAnswerHeaders(this.#sockets, parts.publicUrl);
  }

  isPath(url: string | undefined): boolean {
    return url?.split('?')[0] === CLIENT_STREAM_PATH;
  }

  /** `known` is called when a token says who it is. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, known: () => void): void {
    socket.on('error', () => socket.destroy());
    this.#opening += 1;
    this.#open(request, socket, head, known)
      .catch((error: unknown) => {
        this.#parts.metrics.refused('port');
        const problem = problemOf(error);
        if (problem.status >= 500)
          this.#parts.services.log.warn({ err: error }, 'stream could not be opened');
        refuseUpgrade(socket, problem, this.#parts.publicUrl);
      })
      .finally(() => (this.#opening -= 1));
  }

  close(): void {
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  async #open(request: IncomingMessage, socket: Duplex, head: Buffer, known: () => void): Promise<void> {
    const { services, hub, watch } = this.#parts;
    // Browsers have no use for this; a page that tries it is hostile.
    if (request.headers.origin !== undefined) throw new Problem('forbidden', 'Browsers open no streams.');
    if (this.#opening > MAX_OPENING)
      throw new Problem('rate_limited', 'Too many streams are being opened.', {
        retryAfterSeconds: 1,
      });
    const access = verifyStreamToken(services, bearerOf(request));
    if (!access)
      throw new Problem('unauthenticated', 'The stream token is not one of ours, or it has expired.');
    known();
    let stream: Duplex | null = null;
    let cut = (): void => void (socket.destroy(), stream?.destroy());
    const visitor = { ...access, subjectId: access.allocationId };
    const { subject: machine, close: leave } = await watch.enter(machineDoor(services), visitor, () => cut());
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
    const stopPinging = closeWhenUnresponsive(ws);
    const opened = performance.now();
    log.info('stream open');
    pipeSocket(ws, guest, {
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
  if (error instanceof AccessRefusedError) {
    if (error.why === 'forbidden') return new Problem('forbidden', error.message);
    if (error.why === 'not_active') return new Problem('allocation_not_active', error.message);
    return new Problem('too_many_streams', error.message, { retryAfterSeconds: 5 });
  }
  if (error instanceof GuestUnreachableError)
    return new Problem('guest_unreachable', `The machine cannot be reached: ${error.message}.`);
  return new Problem('internal_error', 'The failure is logged.');
}
