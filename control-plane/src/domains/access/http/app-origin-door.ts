import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomSecret } from '../../../platform/auth/secrets.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { problemOf, redirect, refuse, refuseSocket, sendStarting } from './refuse.ts';
import { attemptNonce, clearSignIn, sealSignIn, setAttempt } from './app-cookies.ts';
import type { AppGateway } from './app-gateway.ts';
import { isWellFormed, labelOfHost } from './app-host.ts';
import { attemptOf, consumeAppTicket } from './app-tickets.ts';
import type { App } from './app.ts';
import { corsHeaders, isPreflight, preflightHeaders } from './cors.ts';
import { headersToClient } from './forwarded-headers.ts';
import { isWebSocket } from './forward-upgrade.ts';
import { provesOrigin } from './origin-proof.ts';
import { shownCookie, shownKey, type ShownCredential } from './shown-credential.ts';

/** Our own paths on the origin of an app; the app never sees them. */
const OWN = '/.gpuaas/';
const LOCAL_PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u;
/** The sign-in behind the cookie may end earlier, and the cookie with it. */
const COOKIE_SECONDS = 12 * 3600;

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
    if (path.startsWith(OWN)) return await this.#serveOwn(label, request, response);
    const shown = this.#shown(request);
    if (!shown) return await this.#greet(label, request, response);
    try {
      const toClient = (raw: readonly string[], app: App): string[] => [
        ...headersToClient(raw),
        ...(shown.by === 'key' ? corsHeaders(app, request) : []),
      ];
      await this.#gateway.serve({ label, shown, path, toClient }, request, response);
    } catch (error) {
      const { code } = problemOf(error);
      // The cookie outlived its sign-in.
      if (code === 'unauthenticated' && shown.by === 'cookie') return this.#signIn(label, request, response);
      if (code !== 'app_not_running' || !wantsPage(request)) throw error;
      const app = await this.#gateway.find(label);
      if (app.phase !== 'starting') throw error;
      sendStarting(response, app);
    }
  }

  async #serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const label = this.#labelOf(request);
    if (!isWebSocket(request)) throw new Problem('invalid_request', 'Only WebSockets upgrade.');
    const shown = this.#shown(request);
    if (!shown) throw unauthenticated();
    const path = request.url ?? '/';
    await this.#gateway.serveUpgrade(
      { label, shown, path, toClient: headersToClient },
      request,
      socket,
      head,
    );
  }

  #labelOf(request: IncomingMessage): string {
    if (!isWellFormed(request))
      throw new Problem('invalid_request', 'Send HTTP/1.1 with one Host header and a path.');
    const label = labelOfHost(request.headers.host, this.#gateway.parts.site);
    if (label === null) throw new Problem('misdirected_request', 'No app is served under this name.');
    return label;
  }

  /** A key wins: no page of another origin can add one without the app's consent. */
  #shown(request: IncomingMessage): ShownCredential | null {
    const key = shownKey(request.headers);
    if (key) return key;
    const cookie = shownCookie(request.headers);
    if (cookie && !provesOrigin(request))
      throw new Problem('forbidden', 'A page of another origin may not use your sign-in to this app.');
    return cookie;
  }

  async #greet(label: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const app = await this.#gateway.find(label);
    const preflight = isPreflight(request) ? preflightHeaders(app, request) : null;
    if (preflight) response.writeHead(204, preflight).end();
    else this.#signIn(label, request, response);
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

  async #serveOwn(label: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(`http://app${request.url}`);
    if (request.method !== 'GET') throw new Problem('method_not_allowed', 'Only GET is served here.');
    if (pathname === '/.gpuaas/leave')
      return redirect(response, new URL('/', this.#consoleUrl).href, [clearSignIn()]);
    if (pathname !== '/.gpuaas/enter') throw new Problem('not_found', 'This path does not exist.');
    const { services } = this.#gateway.parts;
    const nonce = attemptNonce(request.headers);
    const ticket = searchParams.get('ticket') ?? '';
    const signIn = await consumeAppTicket(services.db, services.clock, ticket, { label, nonce });
    if (!signIn)
      throw new Problem('forbidden', 'The ticket is used up or not for this browser. Open the app again.');
    const to = searchParams.get('to') ?? '/';
    redirect(response, isReturnPath(to) ? to : '/', [sealSignIn(services, label, signIn, COOKIE_SECONDS)]);
  }
}

/** Never back to our own paths: an endless round otherwise. */
function isReturnPath(path: string): boolean {
  return path.length <= 2000 && LOCAL_PATH.test(path) && !path.startsWith(OWN);
}

function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' &&
    (headers['sec-fetch-dest'] ?? 'document') === 'document' &&
    (headers.accept ?? '').includes('text/html')
  );
}

function unauthenticated(): Problem {
  return new Problem('unauthenticated', 'Open the app in a browser, or send an API key.');
}
