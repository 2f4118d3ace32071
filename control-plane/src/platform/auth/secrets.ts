import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';

/** 256 random bits as text. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Only this is stored. The secrets are random, so a plain fast hash is enough. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Secrets with a checksum, which people and programs store. */
const KINDS = ['api_key', 'service_account_token', 'invitation', 'share_link'] as const;

export type SecretKind = (typeof KINDS)[number];

/** `gpk_<secret>_<checksum>`: the checksum lets scanners and us reject typing errors without a look-up. */
export function newSecret(kind: SecretKind): string {
  const secret = randomSecret();
  return `${SECRET_PREFIXES[kind]}${secret}_${checksum(secret)}`;
}

/** The part of a secret that may be shown later, to distinguish secrets. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, 12);
}

/** The purpose of a well-formed secret; null for anything else. */
export function kindOfSecret(text: string): SecretKind | null {
  const match = /^([a-z]+_)([A-Za-z0-9_-]{43})_([0-9a-f]{8})$/.exec(text);
  if (!match || checksum(match[2]!) !== match[3]) return null;
  return KINDS.find((kind) => SECRET_PREFIXES[kind] === match[1]) ?? null;
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(8, '0');
}
