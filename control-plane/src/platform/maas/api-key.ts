import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** Output of `maas apikey`: `consumer:token:secret`. */
export interface MaasApiKey {
  consumer: string;
  token: string;
  secret: string;
}

/** Null when the text is no API key of MAAS. */
export function parseApiKey(text: string): MaasApiKey | null {
  const [consumer, token, secret, ...rest] = text.trim().split(':');
  if (!consumer || !token || !secret || rest.length > 0) return null;
  return [consumer, token, secret].every((part) => /^[A-Za-z0-9]+$/.test(part))
    ? { consumer, token, secret }
    : null;
}

/**
 * OAuth 1.0 for MAAS: PLAINTEXT, where the signature is both secrets joined and the consumer's is empty. Each
 * request has its own nonce, because MAAS rejects repeated ones.
 */
export function authorization(key: MaasApiKey, clock: Clock): string {
  const parameters = {
    oauth_version: '1.0',
    oauth_signature_method: 'PLAINTEXT',
    oauth_consumer_key: key.consumer,
    oauth_token: key.token,
    oauth_signature: `&${key.secret}`,
    oauth_timestamp: String(Math.floor(clock.now().getTime() / 1000)),
    oauth_nonce: randomUUID().replaceAll('-', ''),
  };
  const listed = Object.entries(parameters).map(([name, value]) => `${name}="${encodeURIComponent(value)}"`);
  return `OAuth ${listed.join(', ')}`;
}
