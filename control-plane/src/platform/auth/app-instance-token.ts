import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';
import { isUuid } from '../ids.ts';
import type { Sealer } from '../keys/seal.ts';

/** Purpose of the sealed bytes; other sealed values do not open as a token. */
const CONTEXT = 'app_instance_token';
const PREFIX = SECRET_PREFIXES.app_instance_token;

/**
 * The credential of one app instance, for its members. It is sealed by us and stored nowhere: whether the instance
 * lives, and what it may do, is read at each request.
 */
export function mintAppInstanceToken(sealer: Sealer, instanceId: string): string {
  return `${PREFIX}${sealer.seal('app_instance_token', instanceId, CONTEXT).toString('base64url')}`;
}

export function isAppInstanceToken(bearer: string): boolean {
  return bearer.startsWith(PREFIX);
}

/** The instance of a token; null if we did not mint it. */
export function openAppInstanceToken(sealer: Sealer, token: string): string | null {
  if (!isAppInstanceToken(token)) return null;
  try {
    const id = sealer.open(
      'app_instance_token',
      Buffer.from(token.slice(PREFIX.length), 'base64url'),
      CONTEXT,
    );
    return isUuid(id) ? id : null;
  } catch {
    return null;
  }
}
