import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import * as oidc from 'openid-client';
import { isRecord } from '@gpuaas/contracts/is-record';
import { Problem } from '../http/problem.ts';
import { CachedValue, ValueUnavailableError, type CacheRules } from './cached-value.ts';
import { freshFetch } from './fresh-fetch.ts';

const MINUTE = 60_000;
export const TIMEOUT_SECONDS = 5;
const MAX_KEYS = 100;

const METADATA: CacheRules = { maxAgeMs: 60 * MINUTE, staleMs: Infinity, pauseMs: MINUTE, retryMs: 5000 };
/** Fresh for five minutes; an outage of the provider locks nobody out for an hour. */
const KEYS: CacheRules = { maxAgeMs: 5 * MINUTE, staleMs: 60 * MINUTE, pauseMs: MINUTE / 2, retryMs: 5000 };

export interface ProviderOptions {
  issuer: string;
  /** HTTP client; a tenant's provider is reached only through one that checks the address first. */
  fetch?: oidc.CustomFetch;
  now?: () => number;
}

export interface ProviderClient {
  clientId: string;
  clientSecret: string;
}

/** An OpenID provider: its metadata and signing keys, fetched rarely and cached. */
export class Provider {
  readonly #options: ProviderOptions;
  readonly #metadata: CachedValue<oidc.ServerMetadata>;
  readonly #keys: CachedValue<JWTVerifyGetKey>;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#metadata = new CachedValue(() => this.#discover(), METADATA, options.now);
    this.#keys = new CachedValue(() => this.#fetchKeys(), KEYS, options.now);
  }

  async metadata(): Promise<oidc.ServerMetadata> {
    return await available(this.#metadata.get());
  }

  /** The provider as seen by one of our clients. */
  async as({ clientId, clientSecret }: ProviderClient): Promise<oidc.Configuration> {
    const configuration = new oidc.Configuration(await this.metadata(), clientId, clientSecret);
    this.#prepare(configuration);
    return configuration;
  }

  /** For `jose`: the key that a token names. An unknown key is fetched from the provider, at a limited rate. */
  readonly findKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (
        await available(this.#keys.get())
      )(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await available(this.#keys.refresh())))
        throw error;
      return await (
        await available(this.#keys.get())
      )(header, token);
    }
  };

  async #discover(): Promise<oidc.ServerMetadata> {
    const { issuer, fetch = freshFetch } = this.#options;
    const configuration = await oidc.discovery(new URL(issuer), 'discovery', undefined, oidc.None(), {
      timeout: TIMEOUT_SECONDS,
      [oidc.customFetch]: fetch,
      ...(isLoopbackHttp(issuer) ? { execute: [oidc.allowInsecureRequests] } : {}),
    });
    return configuration.serverMetadata();
  }

  async #fetchKeys(): Promise<JWTVerifyGetKey> {
    const { jwks_uri: uri } = await this.#metadata.get();
    if (!uri) throw new Error('the provider publishes no keys');
    const { fetch: send = freshFetch } = this.#options;
    const response = await send(uri, {
      method: 'GET',
      headers: { accept: 'application/json' },
      redirect: 'manual',
      body: null,
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    if (response.status !== 200) throw new Error(`the provider's keys answered ${response.status}`);
    const set: unknown = await response.json();
    if (!isKeySet(set) || set.keys.length > MAX_KEYS) throw new Error('the provider has no key set');
    // Without symmetric keys: they would let anyone who reads the set sign tokens.
    return createLocalJWKSet({ keys: set.keys.filter((key) => key.kty !== 'oct') });
  }

  #prepare(configuration: oidc.Configuration): void {
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[oidc.customFetch] = this.#options.fetch ?? freshFetch;
    if (isLoopbackHttp(this.#options.issuer)) oidc.allowInsecureRequests(configuration);
  }
}

/** Plain http is allowed only for a provider on this machine. */
export function isLoopbackHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

async function available<T>(value: Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    if (!(error instanceof ValueUnavailableError)) throw error;
    throw new Problem('identity_provider_unavailable', 'The identity provider cannot be reached.', {
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error,
    });
  }
}

/** Shape only; `jose` checks each key. */
function isKeySet(value: unknown): value is JSONWebKeySet {
  return isRecord(value) && Array.isArray(value['keys']) && value['keys'].every(isRecord);
}
