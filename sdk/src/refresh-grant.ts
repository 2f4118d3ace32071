import type { AccessToken } from './access-token.ts';

/** The identity provider, and the client's credentials. */
export interface RefreshGrantOptions {
  /** The OpenID provider, as `GET /api/v1/auth/configuration` names it. */
  issuer: string;
  clientId: string;
  refreshToken: string;
  /** Providers replace a refresh token when it is used: store the new one, the former no longer works. */
  onRefreshToken?: (refreshToken: string) => void | Promise<void>;
  fetch?: typeof globalThis.fetch;
}

/**
 * Renews access tokens with a refresh token (RFC 6749, section 6), for {@link refreshingToken}:
 *
 *     createGpuaasClient({ baseUrl, accessToken: refreshingToken({ renew: refreshGrant({ issuer, … }) }) })
 */
export function refreshGrant(options: RefreshGrantOptions): () => Promise<AccessToken | null> {
  const send = options.fetch ?? globalThis.fetch;
  let refreshToken = options.refreshToken;
  let endpoint: string | undefined;
  return async () => {
    endpoint ??= await tokenEndpoint(options.issuer, send);
    const response = await send(endpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: options.clientId,
        refresh_token: refreshToken,
      }),
    });
    const answer: Answer = await response.json();
    if (answer.error === 'invalid_grant') return null;
    if (!response.ok || answer.access_token === undefined)
      throw new Error(`the identity provider answered ${response.status} ${answer.error ?? ''}`.trimEnd());
    if (answer.refresh_token !== undefined && answer.refresh_token !== refreshToken) {
      refreshToken = answer.refresh_token;
      await options.onRefreshToken?.(refreshToken);
    }
    const lifetime = (answer.expires_in ?? 300) * 1000;
    return { token: answer.access_token, expiresAt: new Date(Date.now() + lifetime) };
  };
}

interface Answer {
  access_token?: string;
  refresh_token?: string;
  expires_in?: number;
  error?: string;
}

async function tokenEndpoint(issuer: string, send: typeof globalThis.fetch): Promise<string> {
  const response = await send(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { token_endpoint: endpoint }: { token_endpoint?: string } = await response.json();
  if (!response.ok || endpoint === undefined) throw new Error(`${issuer} does not describe itself`);
  return endpoint;
}
