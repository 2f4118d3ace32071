import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { permissionsAt, type Binding, type Scope } from '../../platform/auth/caller.ts';
import { currentBindings, followRights } from '../../platform/auth/follow-rights.ts';
import type { Db } from '../../platform/db/database.ts';
import type { EventTail } from '../../platform/events/tail.ts';
import type { Services } from '../../platform/services.ts';
import { consumeTerminalToken } from './mint-terminal-token.ts';
import { TERMINAL_PATH } from './routes.ts';
import { openShell } from './open-shell.ts';
import { parseClientMessage, type AuthMessage } from './terminal-messages.ts';
import { TerminalSession } from './terminal-session.ts';
import type { TunnelHub } from './tunnel-hub.ts';

const AUTH_TIMEOUT_MS = 10_000;

/** Web terminals: token first, then bytes, until either side ends, the allocation is released, or a right is lost. */
export class TerminalGateway {
  readonly #services: Services;
  readonly #hub: TunnelHub;
  readonly #origin: string;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 64 * 1024,
    perMessageDeflate: false,
  });
  readonly #sessions = new Map<string, Set<TerminalSession>>();
  readonly #unsubscribe: () => void;

  constructor(services: Services, hub: TunnelHub, tail: EventTail, publicUrl: string) {
    this.#services = services;
    this.#hub = hub;
    this.#origin = new URL(publicUrl).origin;
    const ends = new Set(['allocation.release_requested', 'allocation.releasing', 'allocation.failed']);
    this.#unsubscribe = tail.subscribe((event) => {
      if (ends.has(event.envelope.event_type))
        this.#cut(event.subjectId, 'The allocation is being released.');
    }).unsubscribe;
  }

  static isTerminalPath(url: string | undefined): boolean {
    return url?.split('?')[0] === TERMINAL_PATH;
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { origin } = request.headers;
    // Browsers always send it; a page of another site must not ride on anybody's network position.
    if (origin !== undefined && origin !== this.#origin) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#greet(ws));
  }

  close(): void {
    this.#unsubscribe();
    for (const allocationId of this.#sessions.keys()) this.#cut(allocationId, 'The gateway is restarting.');
    this.#sockets.close();
    for (const client of this.#sockets.clients) client.terminate();
  }

  #greet(ws: WebSocket): void {
    ws.on('error', () => ws.terminate());
    const timer = setTimeout(() => ws.close(4401, 'no token'), AUTH_TIMEOUT_MS);
    ws.once('message', (data, isBinary) => {
      clearTimeout(timer);
      const message = isBinary ? null : parseClientMessage(data as Buffer);
      if (message?.type !== 'auth') ws.close(4400, 'the first message must carry the token');
      else void this.#begin(ws, message);
    });
    ws.once('close', () => clearTimeout(timer));
  }

  async #begin(ws: WebSocket, auth: AuthMessage): Promise<void> {
    const { log, db, clock } = this.#services;
    try {
      const grant = await consumeTerminalToken(db, auth.token, clock.now());
      if (!grant) {
        ws.close(4401, 'the token is unknown, used or expired');
        return;
      }
      const project = await projectOf(db, grant.allocationId);
      const bindings = await currentBindings(db, grant);
      if (!bindings || !mayConnect(bindings, project)) {
        ws.close(4403, 'whoever asked for the token may not connect any more');
        return;
      }
      const shell = await openShell(this.#services, this.#hub, grant, { cols: auth.cols, rows: auth.rows });
      if (ws.readyState !== ws.OPEN) {
        // The browser left while the shell was being opened; its goodbye has been and gone.
        shell.channel.close();
        shell.end();
        return;
      }
      const session = new TerminalSession(ws, shell);
      const rights = followRights(
        {
          db,
          log,
          holds: (now) => mayConnect(now, project),
          onEnd: () => session.end('You may not connect to this machine any more.'),
        },
        { bindings, credential: grant.credential },
      );
      this.#track(grant.allocationId, session, rights.stop);
      // A release in the meantime was announced before anybody listened.
      if (!(await isActive(db, grant.allocationId))) session.end('The allocation is being released.');
      log.info({ allocation_id: grant.allocationId, correlation_id: grant.correlationId }, 'terminal open');
    } catch (error) {
      log.warn({ err: error }, 'terminal could not be opened');
      const reason = error instanceof Error ? error.message : 'unknown';
      ws.send(JSON.stringify({ type: 'closed', reason: `The machine cannot be reached: ${reason}` }));
      ws.close(4502, 'unreachable');
    }
  }

  #track(allocationId: string, session: TerminalSession, onEnd: () => void): void {
    const sessions = this.#sessions.get(allocationId) ?? new Set();
    this.#sessions.set(allocationId, sessions.add(session));
    session.onEnd(() => {
      onEnd();
      sessions.delete(session);
      if (sessions.size === 0 && this.#sessions.get(allocationId) === sessions)
        this.#sessions.delete(allocationId);
    });
  }

  #cut(allocationId: string, reason: string): void {
    for (const session of this.#sessions.get(allocationId) ?? []) session.end(reason);
  }
}

async function projectOf(db: Db, allocationId: string): Promise<Scope> {
  const row = await db
    .selectFrom('allocations')
    .select(['organization_id', 'project_id'])
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  return { kind: 'project', organizationId: row.organization_id, projectId: row.project_id };
}

function mayConnect(bindings: readonly Binding[], project: Scope): boolean {
  return permissionsAt(bindings, project).has('allocation.connect');
}

async function isActive(db: Db, allocationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('allocations')
    .select('desired_state')
    .where('id', '=', allocationId)
    .executeTakeFirst();
  return row?.desired_state === 'active';
}
