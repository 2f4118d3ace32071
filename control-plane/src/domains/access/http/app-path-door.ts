import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '../../../platform/http/problem.ts';
import { problemOf, refuse, refuseSocket } from './refuse.ts';
import type { AppGateway, AppRequest } from './app-gateway.ts';
import { isLabel } from './app-host.ts';
import { isWebSocket } from './forward-upgrade.ts';
import { headersToProgram } from './forwarded-headers.ts';
import { shownKey } from './shown-credential.ts';

/** `/serve/<label>/…` on the console's address: many programs do not resolve names under `localhost`. */
const PREFIX = /^\/serve\/([^/?]+)(?=[/?]|$)/;

/**
 * The door for programs at the console's own address. It takes keys only: the console's cookies mean nothing here, and
 * nothing that an app answers becomes a page of the console.
 */
export class AppPathDoor {
  readonly #gateway: AppGateway;

  constructor(gateway: AppGateway) {
    this.#gateway = gateway;
  }

  serves({ url }: Pick<IncomingMessage, 'url'>): boolean {
    return PREFIX.test(url ?? '');
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    // The headers of the console are set already; this one keeps an answer that is shown as a page from running.
    response.setHeader('content-security-policy', 'sandbox');
    this.#serve(request, response).catch((error: unknown) => refuse(response, problemOf(error)));
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#serveUpgrade(request, socket, head).catch((error: unknown) => {
      if (!socket.destroyed) refuseSocket(socket, problemOf(error));
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#gateway.serve(this.#asked(request), request, response);
  }

  async #serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (!isWebSocket(request)) throw new Problem('invalid_request', 'Only WebSockets upgrade.');
    await this.#gateway.serveUpgrade(this.#asked(request), request, socket, head);
  }

  #asked({ url = '', headers }: IncomingMessage): AppRequest {
    const [prefix = '', label = ''] = PREFIX.exec(url) ?? [];
    if (!isLabel(label)) throw new Problem('not_found', 'There is no app at this address.');
    // Pages belong on the origin of the app.
    const isPage = headers['sec-fetch-dest'] !== undefined && headers['sec-fetch-dest'] !== 'empty';
    const shown = shownKey(headers);
    if (!shown || isPage || headers.origin !== undefined)
      throw new Problem('unauthenticated', 'This address is for programs: send an API key.');
    const rest = url.slice(prefix.length);
    return { label, shown, path: rest.startsWith('/') ? rest : `/${rest}`, toClient: headersToProgram };
  }
}
