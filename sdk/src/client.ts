import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './contract.ts';
import type { TokenSource } from './access-token.ts';
import { refreshingFetch } from './refreshing-fetch.ts';
import { defaultRetryPolicy, retryingFetch, type RetryPolicy } from './retry.ts';

/** `client.GET(path, init)` and so on, one for each method; paths and shapes are the contract's. */
export type GpuaasClient = Client<paths>;

/** Address of the platform and credentials. */
export interface ClientOptions {
  /** Such as https://cloud.example. */
  baseUrl: string;
  /** Programs send an API key; the browser relies on its sign-in cookie. */
  apiKey?: string;
  /** Called before each request; see {@link TokenSource}. */
  accessToken?: TokenSource;
  /** The CSRF token of a browser that is signed in, from `GET /api/v1/me`. */
  csrfToken?: () => string | null;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
  /** Default: five attempts and at most 30 s between two of them. */
  retry?: Partial<RetryPolicy>;
}

const MUTATIONS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The one typed client of the contract: console, CLI, lab and tests use it. */
export function createGpuaasClient(options: ClientOptions): GpuaasClient {
  // Resolved at each call: tests and browsers may replace the global one.
  const send = refreshingFetch(
    (request) => (options.fetch ?? globalThis.fetch)(request),
    options.apiKey === undefined ? options.accessToken : undefined,
  );
  const client = createClient<paths>({
    baseUrl: options.baseUrl,
    fetch: retryingFetch(send, { ...defaultRetryPolicy, ...options.retry }),
  });
  const credentials: Middleware = {
    async onRequest({ request }) {
      const bearer = options.apiKey ?? (await options.accessToken?.());
      if (bearer) request.headers.set('authorization', `Bearer ${bearer}`);
      if (!MUTATIONS.has(request.method)) return;
      if (!request.headers.has('x-idempotency-key')) {
        request.headers.set('x-idempotency-key', crypto.randomUUID());
      }
      const csrf = options.csrfToken?.();
      if (csrf) request.headers.set('x-csrf-token', csrf);
    },
  };
  client.use(credentials);
  return client;
}
