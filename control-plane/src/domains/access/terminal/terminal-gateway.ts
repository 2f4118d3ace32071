import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { recordAudit } from '../../../platform/audit/record.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { addAnswerHeaders, refuseUpgrade } from '../../../platform/http/refuse-upgrade.ts';
import type { Services } from '../../../platform/services.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import { AccessRefusedError, type AccessWatch, type OpenAccess } from '../access-watch.ts';
import type { Machine } from '../../allocations/connection/find-machines.ts';
import { machineDoor, type MachineAccess } from '../machine-door.ts';
import { TERMINAL_PATH } from '../routes.ts';
import { openShell, type Shell } from './open-shell.ts';
import { startRecording } from '../recordings/start-recording.ts';
import { frameBytes, parseClientMessage, type AuthMessage } from './terminal-messages.ts';
import { TerminalSession, type TerminalEnd } from './terminal-session.ts';
import type { TerminalTokens } from '../tokens/terminal-tokens.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';

const AUTH_TIMEOUT_MS = 10_000;
const NOT_RECORDED = 'The terminal could not be recorded.';

export interface GatewayDependencies {
  services: Services;
  hub: TunnelHub;
  watch: AccessWatch;
  tokens: TerminalTokens;
  metrics: StreamMetrics;
  publicUrl: string;
}

/**
 * Web terminals: token first, then bytes, until either side ends, the allocation is released, or a permission
 * is lost.
 */
export class TerminalGateway {
  readonly #parts: GatewayDependencies;
  readonly #origin: string;
  /** Shells of this process that a client may come back to, by id. */
  readonly #shells = new Map<string, { session: TerminalSession; access: MachineAccess }>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 64 * 1024,
    perMessageDeflate: false,
  });

  constructor(parts: GatewayDependencies) {
    this.#parts = parts;
    this.#origin = new URL(parts.publicUrl).origin;
    addAnswerHeaders(this.#sockets, parts.publicUrl);
  }

  isPath(url: string | undefined): boolean {
    return url?.split('?')[0] === TERMINAL_PATH;
  }

  /** `known` is called when a token says who it is. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, known: () => void): void {
    socket.on('error', () => socket.destroy());
    const { origin } = request.headers;
    // Browsers always send it; a page of another site must not exploit the user's network position.
    if (origin !== undefined && origin !== this.#origin) {
      const problem = new Problem('forbidden', 'Only the console may open terminals in a browser.');
      refuseUpgrade(socket, problem, this.#parts.publicUrl);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#greet(ws, known));
  }

  close(): void {
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  #greet(ws: WebSocket, known: () => void): void {
    ws.on('error', () => ws.terminate());
    const timer = setTimeout(() => ws.close(4401, 'no token'), AUTH_TIMEOUT_MS);
    ws.once('message', (data, isBinary) => {
      clearTimeout(timer);
      const message = isBinary ? null : parseClientMessage(frameBytes(data));
      if (message?.type !== 'auth') ws.close(4400, 'the first message must carry the token');
      else void this.#begin(ws, message, known);
    });
    ws.once('close', () => clearTimeout(timer));
  }

  async #begin(ws: WebSocket, auth: AuthMessage, known: () => void): Promise<void> {
    const { services, tokens, watch, metrics } = this.#parts;
    let entry: OpenAccess<Machine> | null = null;
    try {
      const access = await tokens.consume(auth.token);
      if (!access) {
        metrics.refused('terminal');
        ws.close(4401, 'the token is unknown, used or expired');
        return;
      }
      known();
      if (this.#resume(ws, auth, access)) return;
      let end: (reason: string) => void = (reason) => closeWith(ws, reason);
      const visitor = { ...access, subjectId: access.allocationId };
      entry = await watch.enter(machineDoor(services), visitor, (reason) => end(reason));
      const session = await this.#open(ws, auth, access, entry);
      end = (reason) => session?.end(reason);
    } catch (error) {
      entry?.close();
      metrics.refused('terminal');
      if (error instanceof AccessRefusedError && error.why === 'forbidden')
        return ws.close(4403, error.message);
      services.log.warn({ err: error }, 'terminal could not be opened');
      const reason = error instanceof Error ? error.message : 'unknown';
      closeWith(ws, `The machine cannot be reached: ${reason}`, 4502);
    }
  }

  /** Only the person who opened a shell comes back to it; permission was checked when the token was made. */
  #resume(ws: WebSocket, auth: AuthMessage, access: MachineAccess): boolean {
    const kept = auth.resume === null ? undefined : this.#shells.get(auth.resume);
    if (!kept || kept.session.hasEnded) return false;
    if (kept.access.actorId !== access.actorId || kept.access.allocationId !== access.allocationId)
      return false;
    kept.session.attach(ws, auth);
    return true;
  }

  async #open(
    ws: WebSocket,
    auth: AuthMessage,
    access: MachineAccess,
    entry: OpenAccess<Machine>,
  ): Promise<TerminalSession | null> {
    const { services, hub, metrics } = this.#parts;
    const { subject: machine } = entry;
    const size = { cols: auth.cols, rows: auth.rows };
    let session: TerminalSession | null = null;
    const recorder = await startRecording(services, access, machine, size, () => {
      if (session) session.end(NOT_RECORDED);
      else closeWith(ws, NOT_RECORDED);
    });
    let shell: Shell;
    try {
      shell = await openShell(services, hub, access, machine, size);
    } catch (error) {
      await recorder?.end();
      throw error;
    }
    if (ws.readyState !== ws.OPEN) {
      // The browser left, or was disconnected, while the shell was being opened.
      shell.channel.close();
      shell.end();
      entry.close();
      await recorder?.end();
      return null;
    }
    const scope = { organizationId: machine.organizationId };
    const limits = {
      idleMs: services.policies.get('terminal.idle_seconds', scope) * 1000,
      lastsMs: services.policies.get('terminal.max_duration_seconds', scope) * 1000,
      reattachMs: auth.keep ? services.policies.get('terminal.reattach_seconds', scope) * 1000 : 0,
    };
    const opened = new TerminalSession(
      { ws, shell, recorder, metered: metrics.opened('terminal'), whyClosed: entry.whyClosed },
      limits,
      (end) => {
        this.#shells.delete(opened.id);
        entry.close();
        void recorder?.end();
        void this.#note(access, machine.organizationId, end);
      },
    );
    session = opened;
    this.#shells.set(opened.id, { session: opened, access });
    services.log.info(
      { allocation_id: access.allocationId, correlation_id: access.correlationId },
      'terminal open',
    );
    return opened;
  }

  async #note(access: MachineAccess, organizationId: string, end: TerminalEnd): Promise<void> {
    const { db, log } = this.#parts.services;
    try {
      await recordAudit(db, {
        actorUserId: access.actorId,
        actorKind: access.credential.kind === 'service_account_token' ? 'service_account' : 'user',
        actorRole: 'terminal',
        action: 'allocation.terminal_close',
        targetType: 'allocation',
        targetId: access.allocationId,
        organizationId,
        result: 'succeeded',
        correlationId: access.correlationId,
        detail: { reason: end.reason, bytes_in: end.bytesIn, bytes_out: end.bytesOut },
      });
    } catch (error) {
      log.error({ err: error, allocation_id: access.allocationId }, 'the end of a terminal was not audited');
    }
  }
}

function closeWith(ws: WebSocket, reason: string, code = 1000): void {
  if (ws.readyState !== ws.OPEN) return;
  ws.send(JSON.stringify({ type: 'closed', reason }));
  ws.close(code, code === 1000 ? '' : 'unreachable');
}
