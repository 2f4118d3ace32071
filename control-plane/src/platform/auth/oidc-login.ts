import { jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { present } from '../present.ts';
import { systemClock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { Problem } from '../http/problem.ts';
import type { Policies } from '../policy/policies.ts';
import { SIGNATURE_ALGORITHMS } from './access-token.ts';
import type { Identity } from './identity.ts';
import { hashSecret } from './secrets.ts';
import type { EndedSignIn } from './sign-ins.ts';
import type { SignInProvider, TrustedProviders } from './trusted-providers.ts';

export interface FinishedLogin {
  identity: Identity;
  idToken: string;
  returnTo: string;
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

  /** Where to send the browser, and the state that must come back. The hint is the person's e-mail address. */
  async begin(returnTo: string, hint: string | undefined): Promise<{ redirectTo: string; state: string }> {
    const { id, provider, client, redirectUri, scopes } = await this.#providers.byEmail(hint);
    const configuration = await provider.as(client);
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
        identity_provider_id: id,
        expires_at: new Date(now + this.#policies.get('auth.login_ttl_seconds') * 1000),
      })
      .execute();
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: scopes,
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
    providerId: string | null,
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
    const trusted = await this.#providers.byId(pending.identity_provider_id);
    if (!trusted || pending.identity_provider_id !== providerId)
      throw loginFailed('The answer is not that of the identity provider that was asked.');
    const configuration = await trusted.provider.as(trusted.client);
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, callbackUrl, {
        pkceCodeVerifier: pending.code_verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      const idToken = present(tokens.id_token, 'ID token');
      const claims = await this.#verifyIdToken(idToken, trusted);
      const profile = claims['email']
        ? claims
        : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      const identity = await this.#providers.identityOf({ issuer: claims.iss, subject: claims.sub }, profile);
      return { identity, idToken, returnTo: pending.return_to };
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw loginFailed('The identity provider did not confirm the sign-in.', error);
    }
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

  /** openid-client trusts TLS alone; we also verify ID tokens with the provider's keys. */
  async #verifyIdToken(
    idToken: string,
    { provider, client }: SignInProvider,
  ): Promise<Record<string, unknown> & { iss: string; sub: string }> {
    const { payload } = await jwtVerify<{ iss: string; sub: string }>(idToken, provider.findKey, {
      issuer: (await provider.metadata()).issuer,
      audience: client.clientId,
      algorithms: SIGNATURE_ALGORITHMS,
      clockTolerance: this.#policies.get('auth.clock_skew_seconds'),
      requiredClaims: ['exp', 'sub', 'nonce'],
      currentDate: systemClock.now(),
    });
    return payload;
  }
}

/** The console navigates there: it must be a page, never a script. */
function isWebUrl(text: string | undefined): boolean {
  return text !== undefined && /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function loginFailed(detail: string, cause?: unknown): Problem {
  return new Problem('login_failed', detail, { cause });
}
