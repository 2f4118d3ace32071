import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** 256 random bits as text. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Only this is stored. The secrets are random, so a plain fast hash is enough. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** `gpk_<secret>_<checksum>`: the checksum lets scanners and us refuse typing errors without a look-up. */
export function newApiKey(): string {
  const secret = randomSecret();
  return `gpk_${secret}_${checksum(secret)}`;
}

export function isWellFormedApiKey(key: string): boolean {
  const match = /^gpk_([A-Za-z0-9_-]{43})_([0-9a-f]{8})$/.exec(key);
  return match !== null && checksum(match[1]!) === match[2];
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(8, '0');
}
