import * as oidc from 'openid-client';
import { isRecord } from '@gpuaas/contracts/is-record';
import type { ConfirmedPerson, LoginChecks } from './confirm-openid.ts';
import { freshFetch } from './fresh-fetch.ts';
import { isLoopbackHttp, TIMEOUT_SECONDS, type ProviderClient } from './provider.ts';

const PUBLIC_URL = 'https://github.com';
const PUBLIC_API = 'https://api.github.com';

export interface GitHubOptions {
  /** `https://github.com`, or the address of a GitHub Enterprise server. */
  url: string;
  client: ProviderClient;
  redirectUri: string;
}

/** Signs in by GitHub's OAuth code flow. GitHub issues no ID token: its API says whose access token it is. */
export class GitHub {
  readonly redirectUri: string;
  readonly scopes = 'read:user user:email';
  readonly #issuer: string;
  readonly #api: string;
  readonly #client: ProviderClient;

  constructor({ url, client, redirectUri }: GitHubOptions) {
    this.redirectUri = redirectUri;
    this.#issuer = new URL(url).origin;
    this.#api = this.#issuer === PUBLIC_URL ? PUBLIC_API : `${this.#issuer}/api/v3`;
    this.#client = client;
  }

  configuration(): oidc.Configuration {
    const metadata = {
      issuer: this.#issuer,
      authorization_endpoint: `${this.#issuer}/login/oauth/authorize`,
      token_endpoint: `${this.#issuer}/login/oauth/access_token`,
    };
    const configuration = new oidc.Configuration(metadata, this.#client.clientId, this.#client.clientSecret);
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[oidc.customFetch] = freshFetch;
    if (isLoopbackHttp(this.#issuer)) oidc.allowInsecureRequests(configuration);
    return configuration;
  }

  async confirm(callbackUrl: URL, { state, codeVerifier }: LoginChecks): Promise<ConfirmedPerson> {
    const { access_token: token } = await oidc.authorizationCodeGrant(this.configuration(), callbackUrl, {
      expectedState: state,
      pkceCodeVerifier: codeVerifier,
    });
    const [user, emails] = await Promise.all([this.#get('/user', token), this.#get('/user/emails', token)]);
    if (!isRecord(user) || !Number.isSafeInteger(user['id'])) throw new Error('GitHub names no user');
    const { email, verified } = primaryAddress(emails);
    const profile = {
      email,
      email_verified: verified,
      name: user['name'],
      preferred_username: user['login'],
    };
    return { issuer: this.#issuer, subject: String(user['id']), profile, idToken: null };
  }

  async #get(path: string, token: string): Promise<unknown> {
    const response = await freshFetch(`${this.#api}${path}`, {
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        // GitHub refuses requests without one.
        'user-agent': 'gpuaas',
        'x-github-api-version': '2022-11-28',
      },
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    if (response.status !== 200) throw new Error(`GitHub answered ${response.status} for ${path}`);
    return await response.json();
  }
}

/** The address in a profile may be any text; only this list says which address is proven. */
function primaryAddress(emails: unknown): { email: unknown; verified: boolean } {
  const primary = Array.isArray(emails)
    ? emails.filter(isRecord).find((one) => one['primary'] === true)
    : null;
  return { email: primary?.['email'], verified: primary?.['verified'] === true };
}
