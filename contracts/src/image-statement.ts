import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { signCanonical, verifyCanonical } from './signing.ts';

/** A builder's statement about an image. */
export interface ImageStatement {
  version: 1;
  image: string;
  kind: 'base' | 'cuda-dev';
  /** Of the file that hosts fetch. */
  digest: string;
  bytes: number;
  readiness_checks: string[];
  /** Of the recipe and the tools that lay the disk out. */
  recipe_sha256: string;
  /** Date of the archive that packages were taken from. */
  snapshot: string;
  packages: { name: string; version: string }[];
}

export interface SignedImageStatement {
  statement: ImageStatement;
  /** The builder's public key, by the digest of its DER form. */
  key_id: string;
  signature: string;
}

export function imageKeyId(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

export function signImageStatement(statement: ImageStatement, privateKey: KeyObject): SignedImageStatement {
  return { statement, key_id: imageKeyId(privateKey), signature: signCanonical(statement, privateKey) };
}

/** An Ed25519 key as policies list it: its 32 bytes in base64url, as in a JWK. Null for an invalid key. */
export function imageKey(x: string): KeyObject | null {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return null;
  }
}

/** The trusted key that signed the statement; null if there is none. */
export function findTrustedSigner(signed: SignedImageStatement, trusted: readonly string[]): string | null {
  for (const x of trusted) {
    const key = imageKey(x);
    if (!key || imageKeyId(key) !== signed.key_id) continue;
    return verifyCanonical(signed.statement, signed.signature, key) ? signed.key_id : null;
  }
  return null;
}
