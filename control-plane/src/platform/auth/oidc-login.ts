import { policy } from '../policy/policy.ts';
import * as oidc from 'openid-client';
import type { Db } from '../db/database.ts';
import { Problem } from '../http/problem.ts';
import { hashSecret } from './secrets.ts';
import { systemClock } from '../clock.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

export interface SignedInPerson {
  issuer: string;
  subject: string;
  email: string;
  name: string;
  returnTo: string;
}

/** Authorization code with PKCE, run on the server; the browser never sees a token. */
export class OidcLogin {
  readonly #db: Db;
  readonly #settings: OidcSettings;
  #configuration: Promise<oidc.Configuration> | undefined;

  constructor(db: Db, settings: OidcSettings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Where to send the browser, and the state that must come back with it. */
  async begin(returnTo: string): Promise<{ redirectTo: string; state: string }> {
    const configuration = await this.#discover();
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
        expires_at: new Date(now + policy('auth.login_ttl_seconds') * 1000),
      })
      .execute();
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { redirectTo: url.href, state };
  }

  /** The person behind the provider's answer. Each login can be finished once. */
  async finish(callbackUrl: URL, expectedState: string | undefined): Promise<SignedInPerson> {
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
    const configuration = await this.#discover();
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, callbackUrl, {
        pkceCodeVerifier: pending.code_verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      const profile = claims['email']
        ? claims
        : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      const email = text(profile['email']) ?? '';
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email,
        name: text(profile['name']) ?? email,
        returnTo: pending.return_to,
      };
    } catch (error) {
      throw loginFailed('The identity provider did not confirm the sign-in.', error);
    }
  }

  #discover(): Promise<oidc.Configuration> {
    const issuer = new URL(this.#settings.issuer);
    const insecure =
      issuer.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(issuer.hostname);
    this.#configuration ??= oidc
      .discovery(issuer, this.#settings.clientId, this.#settings.clientSecret, undefined, {
        timeout: 10,
        ...(insecure ? { execute: [oidc.allowInsecureRequests] } : {}),
      })
      .catch((error: unknown) => {
        // The provider may be back at the next try.
        this.#configuration = undefined;
        throw loginFailed('The identity provider cannot be reached.', error);
      });
    return this.#configuration;
  }
}

function loginFailed(detail: string, cause?: unknown): Problem {
  return new Problem('login_failed', detail, { cause });
}

/** Claims come from outside; what is no text is no name. */
function text(claim: unknown): string | null {
  return typeof claim === 'string' && claim !== '' ? claim : null;
}
