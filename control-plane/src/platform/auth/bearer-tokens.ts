import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import type { Clock } from '../clock.ts';
import type { Policies } from '../policy/policies.ts';
import { verifyAccessToken, TokenRefused, type AccessToken } from './access-token.ts';
import type { SignUp } from './identity.ts';
import type { SignInProvider, TrustedProviders } from './trusted-providers.ts';

export interface BearerTokensOptions {
  providers: TrustedProviders;
  audience: string;
  signUp: SignUp;
  clock: Clock;
  policies: Policies;
}

export interface TokenHolder {
  issuer: string;
  subject: string;
  /** Vouched for by the platform's provider, not by a tenant's. */
  ofPlatform: boolean;
  expiresAt: Date;
  /** Makes the user when the platform does not know them yet. */
  signUp(): Promise<void>;
}

/** Access tokens that programs bring from an identity provider. */
export class BearerTokens {
  readonly #options: BearerTokensOptions;

  constructor(options: BearerTokensOptions) {
    this.#options = options;
  }

  /** Throws `TokenRefused`, or a problem when nobody can say whether the token holds. */
  async holderOf(token: string): Promise<TokenHolder> {
    const { providers, audience, clock, policies } = this.#options;
    const trusted = await providers.byIssuer(issuerOf(token));
    if (!trusted) throw new TokenRefused('its issuer is not trusted');
    const { claims } = await verifyAccessToken(token, trusted.provider, {
      audience,
      now: clock.now(),
      clockSkewSeconds: policies.get('auth.clock_skew_seconds'),
    });
    return {
      issuer: claims.iss,
      subject: claims.sub,
      ofPlatform: providers.isPlatform(claims.iss),
      expiresAt: new Date(claims.exp * 1000),
      signUp: () => this.#signUp(token, claims, trusted),
    };
  }

  async #signUp(token: string, claims: AccessToken['claims'], trusted: SignInProvider): Promise<void> {
    // Many providers leave the address out of access tokens; it is asked for once, when the person is new.
    const profile = claims['email'] ? claims : await userInfo(token, claims, trusted);
    const { providers, signUp } = this.#options;
    await signUp(await providers.identityOf({ issuer: claims.iss, subject: claims.sub }, profile));
  }
}

/** Not verified yet: only says whose keys to verify it with. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (error) {
    throw new TokenRefused('it cannot be read', { cause: error });
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
    throw new TokenRefused('the provider does not say whose it is', { cause: error });
  }
}
