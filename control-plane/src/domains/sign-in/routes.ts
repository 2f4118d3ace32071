import type { FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { requireWholeCredential, type Caller } from '../../platform/auth/caller.ts';
import type { OidcLogin } from '../../platform/auth/oidc-login.ts';
import { revokeOtherSessions, revokeSession } from '../../platform/auth/revoke-sessions.ts';
import { returnTarget } from '../../platform/auth/return-to.ts';
import type { SessionCookies } from '../../platform/auth/session-cookies.ts';
import { detailsOf, endSession, type EndedSession } from '../../platform/auth/sessions.ts';
import type { OidcSettings, TrustedProviders } from '../../platform/auth/trusted-providers.ts';
import { withRole } from '../../platform/db/scope.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { finishLogin } from './finish-login.ts';
import { listSessions } from './list-sessions.ts';

type SignInOperations = Pick<
  operations,
  | 'startLogin'
  | 'finishLogin'
  | 'finishTenantLogin'
  | 'logout'
  | 'getAuthConfiguration'
  | 'listSessions'
  | 'revokeSession'
  | 'revokeOtherSessions'
>;

export interface SignInOptions {
  login: OidcLogin;
  providers: TrustedProviders;
  cookies: SessionCookies;
  oidc: OidcSettings;
  publicUrl: string;
}

export function signInRoutes(
  services: Services,
  { login, providers, cookies, oidc, publicUrl }: SignInOptions,
): Handlers<SignInOperations, Caller> {
  const { policies, clock, sealer } = services;
  const ownHost = new URL(publicUrl).host;
  const idleSince = (): Date =>
    new Date(clock.now().getTime() - policies.get('auth.session_idle_seconds') * 1000);
  const finish = async (request: FastifyRequest, reply: FastifyReply, providerId: string | null) => {
    const callbackUrl = new URL(request.url, publicUrl);
    const attempt = {
      browser: detailsOf(request),
      correlationId: request.id,
      formerSession: cookies.session(request),
    };
    const { session, returnTo } = await finishLogin(services, attempt, () =>
      login.finish(callbackUrl, cookies.login(request), providerId),
    );
    cookies.setSession(reply, session);
    return { status: 302, body: undefined, location: returnTarget(publicUrl, returnTo) } as const;
  };
  return {
    async startLogin({ query, request, reply }) {
      // Cookies belong to one host name; start over on the one the provider will send the browser back to.
      if (request.host !== ownHost) {
        return { status: 302, body: undefined, location: new URL(request.url, publicUrl).href };
      }
      const { redirectTo, state } = await login.begin(query.return_to ?? '/', query.login_hint);
      cookies.setLogin(reply, state, policies.get('auth.login_ttl_seconds'));
      return { status: 302, body: undefined, location: redirectTo };
    },
    async finishLogin({ request, reply }) {
      return await finish(request, reply, null);
    },
    async finishTenantLogin({ request, reply, params }) {
      return await finish(request, reply, params.identity_provider_id);
    },
    async logout({ caller, reply, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      let ended: EndedSession | null = null;
      await mutate(async (tx) => {
        const { credential } = caller;
        if (credential.kind === 'session')
          ended = await withRole(tx, 'gpuaas_auth', () => endSession(tx, sealer, credential.idHash));
        return { status: 200, body: { redirect_to: null } };
      });
      cookies.clearSession(reply);
      // Asked after the session is gone: nothing waits for the provider but the answer.
      const redirectTo = ended && (await login.endSessionUrl(ended, `${publicUrl}/`));
      return { status: 200, body: { redirect_to: redirectTo } };
    },
    async getAuthConfiguration({ query }) {
      const { issuer, cliClientId, scopes } = await providers.byEmail(query.email);
      const { audience } = oidc;
      return {
        status: 200,
        body: { issuer, cli_client_id: cliClientId, audience, scopes: scopes.split(' ') },
      };
    },
    async listSessions({ caller, query, read }) {
      requireWholeCredential(caller);
      const body = await read((tx) => listSessions(tx, caller, idleSince(), { limit: 50, ...query }));
      return { status: 200, body };
    },
    revokeSession({ caller, params, audit, mutate }) {
      audit({ targetType: 'session', targetId: params.session_id });
      return mutate(async (tx) => {
        await revokeSession(tx, caller, params.session_id);
        return { status: 204, body: undefined };
      });
    },
    revokeOtherSessions({ caller, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => ({
        status: 200,
        body: { revoked: await revokeOtherSessions(tx, caller) },
      }));
    },
  };
}
