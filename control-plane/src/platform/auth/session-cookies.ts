import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The two cookies of a browser. Under https their names begin with `__Host-`, which browsers accept only from this very
 * host: a neighbour under the same domain can neither read nor plant them.
 */
export class SessionCookies {
  readonly #session: string;
  readonly #login: string;
  readonly #options: { httpOnly: true; sameSite: 'lax'; secure: boolean; path: '/' };

  constructor(publicUrl: string) {
    const secure = publicUrl.startsWith('https:');
    const prefix = secure ? '__Host-' : '';
    this.#session = `${prefix}gpuaas_session`;
    this.#login = `${prefix}gpuaas_login`;
    this.#options = { httpOnly: true, sameSite: 'lax', secure, path: '/' };
  }

  session(request: FastifyRequest): string | undefined {
    return request.cookies[this.#session];
  }

  /** The state of a sign-in that this browser began. */
  login(request: FastifyRequest): string | undefined {
    return request.cookies[this.#login];
  }

  setLogin(reply: FastifyReply, state: string, seconds: number): void {
    reply.setCookie(this.#login, state, { ...this.#options, maxAge: seconds });
  }

  setSession(reply: FastifyReply, { secret, expiresAt }: { secret: string; expiresAt: Date }): void {
    reply.clearCookie(this.#login, this.#options);
    reply.setCookie(this.#session, secret, { ...this.#options, expires: expiresAt });
  }

  clearSession(reply: FastifyReply): void {
    reply.clearCookie(this.#session, this.#options);
  }
}
