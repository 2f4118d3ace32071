import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomSecret } from '../../../platform/auth/secrets.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { problemOf, redirect, refuse, refuseSocket, sendStarting, unauthenticated } from './refuse.ts';
import { attemptNonce, setAttempt } from './app-cookies.ts';
import type { AppGateway } from './app-gateway.ts';
import { isWellFormed, labelOfHost } from './app-host.ts';
import { attemptOf } from './app-tickets.ts';
import type { App } from './app.ts';
import { corsHeaders, isPreflight, preflightHeaders } from './cors.ts';
import { headersToClient } from './forwarded-headers.ts';
import { isWebSocket } from './forward-upgrade.ts';
import { provesOrigin } from './origin-proof.ts';
import { isOwnPath, isReturnPath, serveOwnPath } from './own-paths.ts';
import { shownCookie, shownKey, type ShownCredential } from './shown-credential.ts';

/** The door at an app's own host name: for browsers that the console has signed in, and for keys. */
export class AppOriginDoor {
  readonly #gateway: AppGateway;
  readonly #consoleUrl: string;

  constructor(gateway: AppGateway, consoleUrl: string) {
    this.#gateway = gateway;
    this.#consoleUrl = consoleUrl;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch((error: unknown) => {
      const problem = problemOf(error);
      if (problem.status === 500)
        this.#gateway.parts.services.log.error({ err: error }, 'app request failed');
      refuse(response, problem);
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#serveUpgrade(request, socket, head).catch((error: unknown) => {
      if (!socket.destroyed) refuseSocket(socket, problemOf(error));
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const label = this.#labelOf(request);
    const path = request.url ?? '/';
    if (isOwnPath(path)) return await serveOwnPath(this.#gateway, this.#consoleUrl, label, request, response);
    if (isPreflight(request) && (await this.#servePreflight(label, request, response))) return;
    try {
      await this.#try(request, (shown) => {
        const toClient = (raw: readonly string[], app: App): string[] => [
          ...headersToClient(raw),
          ...(shown.by === 'key' ? corsHeaders(app, request) : []),
        ];
        return this.#gateway.serve({ label, shown, path, toClient }, request, response);
      });
    } catch (error) {
      const { code } = problemOf(error);
      if (code === 'unauthenticated' && !shownKey(request.headers))
        return this.#signIn(label, request, response);
      if (code !== 'app_not_running' || !wantsPage(request)) throw error;
      const app = await this.#gateway.find(label);
      if (app.phase !== 'starting') throw error;
      sendStarting(response, app);
    }
  }

  /**
   * With a key, or with a cookie, or with nothing. A key wins: no page of another origin can add one without the app's
   * consent. Whose cookie opens nothing, or comes from another origin's page, is treated as if they showed none.
   */
  async #try(request: IncomingMessage, serve: (shown: ShownCredential) => Promise<void>): Promise<void> {
    const key = shownKey(request.headers);
    if (key) return await serve(key);
    const cookie = shownCookie(request.headers);
    if (!cookie) return await serve({ by: 'nothing' });
    const foreign = new Problem(
      'forbidden',
      'A page of another origin may not use your sign-in to this app.',
    );
    const refused = await refusalOf(provesOrigin(request) ? serve(cookie) : Promise.reject(foreign));
    if (!refused) return;
    const anonymous = await refusalOf(serve({ by: 'nothing' }));
    if (anonymous?.code === 'unauthenticated') throw refused;
    if (anonymous) throw anonymous;
  }

  async #serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const label = this.#labelOf(request);
    if (!isWebSocket(request)) throw new Problem('invalid_request', 'Only WebSockets upgrade.');
    const path = request.url ?? '/';
    await this.#try(request, (shown) =>
      this.#gateway.serveUpgrade({ label, shown, path, toClient: headersToClient }, request, socket, head),
    );
  }

  #labelOf(request: IncomingMessage): string {
    if (!isWellFormed(request))
      throw new Problem('invalid_request', 'Send HTTP/1.1 with one Host header and a path.');
    const label = labelOfHost(request.headers.host, this.#gateway.parts.site);
    if (label === null) throw new Problem('misdirected_request', 'No app is served under this name.');
    return label;
  }

  /** True once answered from the app's list. A preflight carries no credential, so it is answered before any is needed. */
  async #servePreflight(label: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const headers = preflightHeaders(await this.#gateway.find(label), request);
    if (headers) response.writeHead(204, headers).end();
    return headers !== null;
  }

  /** To the console, which knows the person. The nonce ties what comes back to this browser. */
  #signIn(label: string, request: IncomingMessage, response: ServerResponse): void {
    if (!wantsPage(request)) throw unauthenticated();
    const nonce = attemptNonce(request.headers) ?? randomSecret();
    const target = new URL(`/auth/apps/${label}`, this.#consoleUrl);
    target.searchParams.set('attempt', attemptOf(nonce));
    const to = request.url ?? '/';
    if (isReturnPath(to)) target.searchParams.set('to', to);
    redirect(response, target.href, [setAttempt(nonce)]);
  }
}

/** Null once served. Refusals that a sign-in could change are returned, any other failure is thrown. */
async function refusalOf(serving: Promise<void>): Promise<Problem | null> {
  try {
    await serving;
    return null;
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code === 'unauthenticated' || problem.code === 'forbidden') return problem;
    throw error;
  }
}

function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' &&
    (headers['sec-fetch-dest'] ?? 'document') === 'document' &&
    (headers.accept ?? '').includes('text/html')
  );
}
