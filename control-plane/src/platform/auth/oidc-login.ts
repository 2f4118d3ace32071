import * as oidc from 'openid-client';
import { systemClock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { Problem } from '../http/problem.ts';
import type { Policies } from '../policy/policies.ts';
import { confirmOpenId, type ConfirmedPerson, type LoginChecks } from './confirm-openid.ts';
import { identityFrom, type Identity } from './identity.ts';
import type { PublicProviderName } from './public-providers.ts';
import { hashSecret } from './secrets.ts';
import type { EndedSignIn } from './sign-ins.ts';
import type { SignInProvider, TrustedProviders } from './trusted-providers.ts';

export interface FinishedLogin {
  identity: Identity;
  /** Null from a provider without ID tokens. */
  idToken: string | null;
  returnTo: string;
}

/** The provider whose callback was called; nulls for the platform's. */
export interface CalledBack {
  identityProviderId: string | null;
  publicProvider: PublicProviderName | null;
}

/** Where a browser is sent, and how the answer is confirmed. */
interface Way extends CalledBack {
  redirectUri: string;
  scopes: string;
  configuration(): Promise<oidc.Configuration>;
  confirm(callbackUrl: URL, checks: LoginChecks): Promise<ConfirmedPerson>;
}

/** Authorization code with PKCE, run on the server; the browser never sees a token. */
export class OidcLogin {
  readonly #db: Db;
  readonly #providers: TrustedProviders;
  readonly #policies: Policies;

  constructor(db: Db, providers: TrustedProviders, policies: Policies) {
    this.#db = db;
    this.#providers = providers;
    this.#policies = policies;
  }

  /**
   * Where to send the browser, and the state that must come back. The hint is the person's e-mail address; a named
   * public provider goes before it.
   */
  async begin(
    returnTo: string,
    { hint, publicProvider }: { hint?: string | undefined; publicProvider?: PublicProviderName | undefined },
  ): Promise<{ redirectTo: string; state: string }> {
    const way = publicProvider
      ? this.#publicWay(publicProvider)
      : openIdWay(await this.#providers.byEmail(hint), null);
    if (!way) throw loginFailed('This platform offers no sign-in there.');
    const configuration = await way.configuration();
    const codeVerifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const nonce = oidc.randomNonce();
    const now = systemClock.now().getTime();
    await this.#db.deleteFrom('pending_logins').where('expires_at', '<', new Date(now)).execute();
    await this.#db
      .insertInto('pending_logins')
      .values({
        state_hash: hashSecret(state),
        code_verifier: codeVerifier,
        nonce,
        return_to: returnTo,
        identity_provider_id: way.identityProviderId,
        public_provider: way.publicProvider,
        expires_at: new Date(now + this.#policies.get('auth.login_ttl_seconds') * 1000),
      })
      .execute();
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: way.redirectUri,
      scope: way.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...(hint ? { login_hint: hint } : {}),
    });
    if (!isWebUrl(url.href)) throw loginFailed('The identity provider names no page to sign in at.');
    return { redirectTo: url.href, state };
  }

  /**
   * The person in the provider's response. Each login can be finished once, at the callback of that
   * provider: a response of one provider never reaches another.
   */
  async finish(
    callbackUrl: URL,
    expectedState: string | undefined,
    calledBack: CalledBack,
  ): Promise<FinishedLogin> {
    const state = callbackUrl.searchParams.get('state');
    if (!state || state !== expectedState)
      throw loginFailed('The sign-in was started in another browser or has expired.');
    const pending = await this.#db
      .deleteFrom('pending_logins')
      .where('state_hash', '=', hashSecret(state))
      .returningAll()
      .executeTakeFirst();
    if (!pending || pending.expires_at < systemClock.now())
      throw loginFailed('The sign-in has expired; start again.');
    const { identity_provider_id: identityProviderId, public_provider: publicProvider } = pending;
    const way = await this.#startedAt({ identityProviderId, publicProvider });
    const isSame =
      identityProviderId === calledBack.identityProviderId && publicProvider === calledBack.publicProvider;
    if (!way || !isSame) throw loginFailed('The answer is not that of the identity provider that was asked.');
    try {
      const { idToken, profile, ...person } = await way.confirm(callbackUrl, {
        state,
        nonce: pending.nonce,
        codeVerifier: pending.code_verifier,
        clockSkewSeconds: this.#policies.get('auth.clock_skew_seconds'),
      });
      const identity = publicProvider
        ? { ...person, ...identityFrom(profile), tenant: null }
        : await this.#providers.identityOf(person, profile);
      return { identity, idToken, returnTo: pending.return_to };
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw loginFailed('The identity provider did not confirm the sign-in.', error);
    }
  }

  async #startedAt({ identityProviderId, publicProvider }: CalledBack): Promise<Way | null> {
    if (publicProvider) return this.#publicWay(publicProvider);
    const trusted = await this.#providers.byId(identityProviderId);
    return trusted && openIdWay(trusted, null);
  }

  #publicWay(name: PublicProviderName): Way | null {
    const provider = this.#providers.public.get(name);
    if (!provider) return null;
    if (provider.name === 'google') return openIdWay(provider.openid, 'google');
    const { github } = provider;
    return {
      identityProviderId: null,
      publicProvider: 'github',
      redirectUri: github.redirectUri,
      scopes: github.scopes,
      configuration: async () => github.configuration(),
      confirm: (callbackUrl, checks) => github.confirm(callbackUrl, checks),
    };
  }

  /** Where to end the sign-in at the provider too; null if it offers no such page or cannot be reached. */
  async signOutUrl({ issuer, idToken }: EndedSignIn, returnTo: string): Promise<string | null> {
    try {
      const trusted = issuer ? await this.#providers.byIssuer(issuer) : null;
      if (!trusted) return null;
      const configuration = await trusted.provider.as(trusted.client);
      if (!isWebUrl(configuration.serverMetadata().end_session_endpoint)) return null;
      return oidc.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken ? { id_token_hint: idToken } : {}),
      }).href;
    } catch {
      return null;
    }
  }
}

function openIdWay(trusted: SignInProvider, publicProvider: PublicProviderName | null): Way {
  const { id, redirectUri, scopes, provider, client } = trusted;
  return {
    identityProviderId: id,
    publicProvider,
    redirectUri,
    scopes,
    configuration: () => provider.as(client),
    confirm: (callbackUrl, checks) => confirmOpenId(trusted, callbackUrl, checks),
  };
}

/** The console navigates there: it must be a page, never a script. */
function isWebUrl(text: string | undefined): boolean {
  return text !== undefined && /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function loginFailed(detail: string, cause?: unknown): Problem {
  return new Problem('login_failed', detail, { cause });
}
