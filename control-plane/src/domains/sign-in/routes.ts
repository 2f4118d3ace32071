import type { FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, requireUnscopedCredential, type Caller } from '../../platform/auth/caller.ts';
import type { CalledBack, OidcLogin } from '../../platform/auth/oidc-login.ts';
import { revokeOtherSignIns, revokeSignIn } from '../../platform/auth/revoke-sign-ins.ts';
import { safeReturnUrl } from '../../platform/auth/safe-return-url.ts';
import type { SignInCookies } from '../../platform/auth/sign-in-cookies.ts';
import { browserDetails, endSignIn, type EndedSignIn } from '../../platform/auth/sign-ins.ts';
import type { OidcSettings, TrustedProviders } from '../../platform/auth/trusted-providers.ts';
import { withRole } from '../../platform/db/scope.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { endSignInsOfPerson } from '../tenancy/members/end-sign-ins.ts';
import { finishLogin } from './finish-login.ts';
import { listPeople } from './list-people.ts';
import { listSignIns } from './list-sign-ins.ts';

type SignInOperations = Pick<
  operations,
  | 'startLogin'
  | 'finishLogin'
  | 'finishTenantLogin'
  | 'finishPublicLogin'
  | 'logout'
  | 'getAuthConfiguration'
  | 'listSignIns'
  | 'revokeSignIn'
  | 'revokeOtherSignIns'
  | 'listPeople'
  | 'endSignInsOfPerson'
>;

export interface SignInOptions {
  login: OidcLogin;
  providers: TrustedProviders;
  cookies: SignInCookies;
  oidc: OidcSettings;
  publicUrl: string;
}

const AT_PLATFORM: CalledBack = { identityProviderId: null, publicProvider: null };

export function signInRoutes(
  services: Services,
  { login, providers, cookies, oidc, publicUrl }: SignInOptions,
): Handlers<SignInOperations, Caller> {
  const { policies, clock, sealer } = services;
  const { host: ownHost, origin } = new URL(publicUrl);
  // Path and query only: a request target may name another host.
  const here = ({ url }: FastifyRequest): URL => {
    const { pathname, search } = new URL(url, publicUrl);
    return new URL(`${origin}${pathname}${search}`);
  };
  const idleSince = (): Date =>
    new Date(clock.now().getTime() - policies.get('auth.sign_in_idle_seconds') * 1000);
  const finish = async (request: FastifyRequest, reply: FastifyReply, calledBack: Partial<CalledBack>) => {
    const callbackUrl = here(request);
    const attempt = {
      browser: browserDetails(request),
      correlationId: request.id,
      formerSignIn: cookies.signIn(request),
    };
    const { signIn, returnTo } = await finishLogin(services, attempt, () =>
      login.finish(callbackUrl, cookies.login(request), { ...AT_PLATFORM, ...calledBack }),
    );
    cookies.setSignIn(reply, signIn);
    return { status: 302, body: undefined, location: safeReturnUrl(publicUrl, returnTo) } as const;
  };
  return {
    async startLogin({ query, request, reply }) {
      // Cookies belong to one host name; start over on the one the provider will send the browser back to.
      if (request.host !== ownHost) {
        return { status: 302, body: undefined, location: here(request).href };
      }
      const { return_to: returnTo = '/', login_hint: hint, provider } = query;
      if (!hint && !provider && providers.public.size > 0) {
        const location = `/sign-in?${new URLSearchParams({ return_to: returnTo }).toString()}`;
        return { status: 302, body: undefined, location };
      }
      const { redirectTo, state } = await login.begin(returnTo, {
        hint,
        publicProvider: provider === 'platform' ? undefined : provider,
      });
      cookies.setLogin(reply, state, policies.get('auth.login_ttl_seconds'));
      return { status: 302, body: undefined, location: redirectTo };
    },
    async finishLogin({ request, reply }) {
      return await finish(request, reply, {});
    },
    async finishTenantLogin({ request, reply, params }) {
      return await finish(request, reply, { identityProviderId: params.identity_provider_id });
    },
    async finishPublicLogin({ request, reply, params }) {
      return await finish(request, reply, { publicProvider: params.provider });
    },
    async logout({ caller, reply, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      let ended: EndedSignIn | null = null;
      await mutate(async (tx) => {
        const { credential } = caller;
        if (credential.kind === 'sign_in')
          ended = await withRole(tx, 'gpuaas_auth', () => endSignIn(tx, sealer, credential.idHash));
        return { status: 200, body: { redirect_to: null } };
      });
      cookies.clearSignIn(reply);
      // Fetched after the sign-in has ended: only the reply waits for the provider.
      const redirectTo = ended && (await login.signOutUrl(ended, `${publicUrl}/`));
      return { status: 200, body: { redirect_to: redirectTo } };
    },
    async getAuthConfiguration({ query }) {
      const { issuer, cliClientId, scopes } = await providers.byEmail(query.email);
      const { audience } = oidc;
      return {
        status: 200,
        body: {
          issuer,
          cli_client_id: cliClientId,
          audience,
          scopes: scopes.split(' '),
          public_providers: [...providers.public.keys()],
        },
      };
    },
    async listSignIns({ caller, query, read }) {
      requireUnscopedCredential(caller);
      const body = await read((tx) => listSignIns(tx, caller, idleSince(), query));
      return { status: 200, body };
    },
    revokeSignIn({ caller, params, audit, mutate }) {
      audit({ targetType: 'sign_in', targetId: params.sign_in_id });
      return mutate(async (tx) => {
        await revokeSignIn(tx, caller, params.sign_in_id);
        return { status: 204, body: undefined };
      });
    },
    revokeOtherSignIns({ caller, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const revoked = await revokeOtherSignIns(tx, caller);
        return { status: 200, body: { revoked }, unchanged: revoked === 0 };
      });
    },
    async listPeople({ caller, query, read }) {
      authorize(caller, 'person.sign_out', atPlatform);
      const body = await read((tx) => listPeople(tx, idleSince(), query));
      return { status: 200, body };
    },
    endSignInsOfPerson({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: params.user_id, detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'person.sign_out', atPlatform);
        return { status: 200, body: { ended: await endSignInsOfPerson(tx, params.user_id) } };
      });
    },
  };
}
