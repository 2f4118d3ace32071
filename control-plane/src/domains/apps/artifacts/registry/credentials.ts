import type { FastifyRequest } from 'fastify';

/**
 * Clients of registries send Basic credentials; the platform knows bearers. The user name is arbitrary, the password is an
 * API key, a token of a service account, or an access token.
 */
export function takeBasicCredentials({ headers }: FastifyRequest): void {
  // The registry is no site: a browser's sign-in does not count here.
  delete headers.cookie;
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (encoded === undefined) return;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  headers.authorization = `Bearer ${password}`;
}

/** Where clients exchange their credential for a token. */
export function challengeOf(publicUrl: string): string {
  const { origin, host } = new URL(publicUrl);
  return `Bearer realm="${origin}/v2/token",service="${host}"`;
}

const TOKEN_SECONDS = 300;

/**
 * Answer of the token endpoint. The token is the credential itself: rights are read at each request anyway, so that a
 * revocation applies to the next one, and a second kind of token would only add something to leak.
 */
export function tokenAnswer({ headers }: FastifyRequest): object {
  const token = headers.authorization?.slice('Bearer '.length) ?? '';
  return { token, access_token: token, expires_in: TOKEN_SECONDS };
}
