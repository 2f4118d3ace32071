import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';

const PREFIX = SECRET_PREFIXES.webhook;

/** A Standard Webhooks signing secret: 256 random bits. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** The `webhook-signature` header: one `v1` signature for each secret that is valid now. */
export function signMessage(
  secrets: readonly string[],
  message: { id: string; timestampSeconds: number; body: string },
): string {
  const content = `${message.id}.${message.timestampSeconds}.${message.body}`;
  return secrets.map((secret) => `v1,${hmac(secret, content)}`).join(' ');
}

function hmac(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}
