import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import type { Clock } from '../clock.ts';
import type { Policies } from '../policy/policies.ts';
import { verifyAccessToken, TokenRejectedError, type AccessToken } from './access-token.ts';
import type { EnsureUser } from './identity.ts';
import type { SignInProvider, TrustedProviders } from './trusted-providers.ts';

export interface BearerTokensOptions {
  providers: TrustedProviders;
  audience: string;
  signUp: EnsureUser;
  clock: Clock;
  policies: Policies;
}

export interface TokenSubject {
  issuer: string;
  subject: string;
  /** Issued by the platform's provider, not by a tenant's. */
  ofPlatform: boolean;
  /** A token without this time counts as the oldest possible. */
  issuedAt: Date;
  expiresAt: Date;
  /** Creates the user if the platform does not know them yet. */
  signUp(): Promise<void>;
}

/** Access tokens that programs bring from an identity provider. */
export class BearerTokens {
  readonly #options: BearerTokensOptions;

  constructor(options: BearerTokensOptions) {
    this.#options = options;
  }

  /** Throws `TokenRejectedError`, or a problem if the token cannot be verified now. */
  async holderOf(token: string): Promise<TokenSubject> {
    const { providers, audience, clock, policies } = this.#options;
    const trusted = await providers.byIssuer(issuerOf(token));
    if (!trusted) throw new TokenRejectedError('its issuer is not trusted');
    const { claims } = await verifyAccessToken(token, trusted.provider, {
      audience,
      now: clock.now(),
      clockSkewSeconds: policies.get('auth.clock_skew_seconds'),
    });
    return {
      issuer: claims.iss,
      subject: claims.sub,
      ofPlatform: providers.isPlatform(claims.iss),
      issuedAt: new Date((claims.iat ?? 0) * 1000),
      expiresAt: new Date(claims.exp * 1000),
      signUp: () => this.#signUp(token, claims, trusted),
    };
  }

  async #signUp(token: string, claims: AccessToken['claims'], trusted: SignInProvider): Promise<void> {
    // Many providers leave the address out of access tokens; it is fetched once, when the person is new.
    const profile = claims['email'] ? claims : await userInfo(token, claims, trusted);
    const { providers, signUp } = this.#options;
    await signUp(await providers.identityOf({ issuer: claims.iss, subject: claims.sub }, profile));
  }
}

/** Not verified yet: only selects the keys to verify it with. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (error) {
    throw new TokenRejectedError('it cannot be read', { cause: error });
  }
}

async function userInfo(
  token: string,
  claims: AccessToken['claims'],
  { provider, client }: SignInProvider,
): Promise<Record<string, unknown>> {
  const configuration = await provider.as(client);
  if (!configuration.serverMetadata().userinfo_endpoint) return claims;
  try {
    return await oidc.fetchUserInfo(configuration, token, claims.sub);
  } catch (error) {
    throw new TokenRejectedError('the provider does not name its owner', { cause: error });
  }
}
