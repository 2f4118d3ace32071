import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';

/** Ed25519 over RFC 8785 canonical JSON: the one signature used for tasks and access grants. */
export function signCanonical(payload: object, privateKey: KeyObject | string): string {
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  return sign(null, canonicalBytes(payload), key).toString('base64url');
}

export function verifyCanonical(payload: object, signature: string, publicKey: KeyObject | string): boolean {
  const key = typeof publicKey === 'string' ? createPublicKey(publicKey) : publicKey;
  return verify(null, canonicalBytes(payload), key, Buffer.from(signature, 'base64url'));
}

function canonicalBytes(payload: object): Buffer {
  const text = canonicalize(payload);
  if (text === undefined) throw new TypeError('payload has no canonical JSON form');
  return Buffer.from(text, 'utf8');
}
