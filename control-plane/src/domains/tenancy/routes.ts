import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { OidcLogin } from '../../platform/auth/oidc-login.ts';
import { createSession, endSession, SESSION_COOKIE } from '../../platform/auth/sessions.ts';
import { inScope, withRole } from '../../platform/db/scope.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { getMe } from './get-me.ts';
import { signIn } from './sign-in.ts';

type TenancyOperations = Pick<operations, 'getMe' | 'startLogin' | 'finishLogin' | 'logout'>;

const LOGIN_COOKIE = 'gpuaas_login';

export function tenancyRoutes(
  services: Services,
  options: { login: OidcLogin; publicUrl: string },
): Handlers<TenancyOperations, Caller> {
  const { db } = services;
  const secure = options.publicUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    async getMe({ caller, read }) {
      return { status: 200, body: await read((tx) => getMe(tx, caller)) };
    },
    async startLogin({ query, request, reply }) {
      const returnTo = query.return_to ?? '/';
      // Cookies belong to one host name; start over on the one the provider will send the browser back to.
      if (request.headers.host !== new URL(options.publicUrl).host) {
        const location = `${options.publicUrl}/auth/login?return_to=${encodeURIComponent(returnTo)}`;
        return { status: 302, body: undefined, location };
      }
      const { redirectTo, state } = await options.login.begin(returnTo);
      reply.setCookie(LOGIN_COOKIE, state, { ...cookie, path: '/auth', maxAge: 600 });
      return { status: 302, body: undefined, location: redirectTo };
    },
    async finishLogin({ request, reply }) {
      const callbackUrl = new URL(request.url, options.publicUrl);
      const { identity, returnTo } = await options.login.finish(callbackUrl, request.cookies[LOGIN_COOKIE]);
      const session = await inScope(db, { role: 'gpuaas_auth' }, async (tx) =>
        createSession(services.policies, tx, await signIn(tx, identity)),
      );
      reply.clearCookie(LOGIN_COOKIE, { path: '/auth' });
      reply.setCookie(SESSION_COOKIE, session.secret, { ...cookie, path: '/', expires: session.expiresAt });
      return { status: 302, body: undefined, location: returnTo };
    },
    logout({ caller, reply, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const { credential } = caller;
        if (credential.kind === 'session') {
          await withRole(tx, 'gpuaas_auth', () => endSession(tx, credential.idHash));
        }
        reply.clearCookie(SESSION_COOKIE, { path: '/' });
        return { status: 204, body: undefined };
      });
    },
  };
}
