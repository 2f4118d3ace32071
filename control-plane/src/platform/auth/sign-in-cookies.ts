import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The two cookies of a browser. Under https their names begin with `__Host-`, which browsers accept only from
 * this exact host: another host of the same domain can neither read nor set them.
 */
export class SignInCookies {
  readonly #signIn: string;
  readonly #login: string;
  readonly #options: { httpOnly: true; sameSite: 'lax'; secure: boolean; path: '/' };

  constructor(publicUrl: string) {
    const secure = publicUrl.startsWith('https:');
    const prefix = secure ? '__Host-' : '';
    this.#signIn = `${prefix}gpuaas_sign_in`;
    this.#login = `${prefix}gpuaas_login`;
    this.#options = { httpOnly: true, sameSite: 'lax', secure, path: '/' };
  }

  signIn(request: FastifyRequest): string | undefined {
    return request.cookies[this.#signIn];
  }

  /** The state of a sign-in that this browser began. */
  login(request: FastifyRequest): string | undefined {
    return request.cookies[this.#login];
  }

  setLogin(reply: FastifyReply, state: string, seconds: number): void {
    reply.setCookie(this.#login, state, { ...this.#options, maxAge: seconds });
  }

  setSignIn(reply: FastifyReply, { secret, expiresAt }: { secret: string; expiresAt: Date }): void {
    reply.clearCookie(this.#login, this.#options);
    reply.setCookie(this.#signIn, secret, { ...this.#options, expires: expiresAt });
  }

  clearSignIn(reply: FastifyReply): void {
    reply.clearCookie(this.#signIn, this.#options);
  }
}
