import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { components } from '../generated/openapi.ts';
import { verifyCanonical } from './signing.ts';

export type WipeStatement = components['schemas']['WipeStatement'];
export type SignedWipeCertificate = components['schemas']['SignedWipeCertificate'];
export type PublishedKey = components['schemas']['WipeCertificateKey'];

/** Previous hash of the first certificate in a chain. */
export const CHAIN_GENESIS = '0'.repeat(64);

export interface CertificateFinding {
  sequence: number;
  kind:
    | 'not_a_certificate'
    | 'key_unknown'
    | 'key_not_in_force'
    | 'signature_wrong'
    | 'chain_broken'
    | 'certificate_missing';
  detail: string;
}

/** SHA-256 over the canonical JSON of the signed statement; the next certificate carries it. */
export function hashWipeStatement(statement: WipeStatement): string {
  return createHash('sha256').update(canonicalize(statement)!).digest('hex');
}

/** A key's id is derived from the key, so that no other key can be presented under its id. */
export function certificateKeyId(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/** Error of a certificate; null when the platform's key signed all of it. Needs no network. */
export function checkCertificate(
  { certificate, signature }: SignedWipeCertificate,
  keys: readonly PublishedKey[],
): CertificateFinding | null {
  const finding = (kind: CertificateFinding['kind'], detail: string): CertificateFinding => ({
    sequence: certificate.sequence,
    kind,
    detail,
  });
  const key = keys.find(({ key_id }) => key_id === certificate.key_id);
  const publicKey = key && createPublicKey(key.public_key_pem);
  if (!publicKey || certificateKeyId(publicKey) !== certificate.key_id) {
    return finding('key_unknown', `The key ${certificate.key_id} is not among the published ones.`);
  }
  if (!verifyCanonical(certificate, signature, publicKey)) {
    return finding('signature_wrong', 'It is not what the platform signed.');
  }
  const issued = Date.parse(certificate.issued_at);
  if (issued < Date.parse(key.created_at) || (key.retired_at && issued > Date.parse(key.retired_at))) {
    return finding('key_not_in_force', `The key ${key.key_id} was not in force when it was issued.`);
  }
  return null;
}

/** Holds each certificate against its signature and against the one before it, in order of sequence. */
export function checkChain(
  chain: readonly SignedWipeCertificate[],
  keys: readonly PublishedKey[],
  before: { sequence: number; hash: string } = { sequence: 0, hash: CHAIN_GENESIS },
): { findings: CertificateFinding[]; head: { sequence: number; hash: string } } {
  const findings: CertificateFinding[] = [];
  let head = before;
  for (const signed of chain) {
    const { sequence, previous_hash } = signed.certificate;
    const wrong = checkCertificate(signed, keys);
    if (wrong) findings.push(wrong);
    if (sequence !== head.sequence + 1) {
      const detail = `It follows ${head.sequence}; those between are missing.`;
      findings.push({ sequence, kind: 'certificate_missing', detail });
    } else if (previous_hash !== head.hash) {
      findings.push({ sequence, kind: 'chain_broken', detail: 'It does not build on the one before it.' });
    }
    head = { sequence, hash: hashWipeStatement(signed.certificate) };
  }
  return { findings, head };
}
