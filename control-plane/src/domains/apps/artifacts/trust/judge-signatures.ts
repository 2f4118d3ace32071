import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { isRecord } from '@gpuaas/contracts/is-record';

/** A signature as cosign stores it: the statement that was signed, and the bytes of the signature. */
export interface Signature {
  statement: Buffer;
  signature: Buffer;
}

export type Finding =
  | { verdict: 'trusted'; key: string }
  | { verdict: 'unsigned' | 'untrusted' | 'digest_mismatch'; key: null };

const STATEMENT_TYPE = 'cosign container image signature';

/** What the signatures beside an artifact say about its digest, judged by the keys that are trusted. */
export function judgeSignatures(
  digest: string,
  signatures: readonly Signature[],
  trustedKeys: readonly string[],
): Finding {
  if (signatures.length === 0) return { verdict: 'unsigned', key: null };
  const keys = trustedKeys.map(readKey).filter((key) => key !== null);
  let aboutAnother = false;
  for (const { statement, signature } of signatures)
    for (const key of keys) {
      if (!hasSigned(key, statement, signature)) continue;
      if (signedDigest(statement) === digest) return { verdict: 'trusted', key: fingerprint(key) };
      aboutAnother = true;
    }
  return { verdict: aboutAnother ? 'digest_mismatch' : 'untrusted', key: null };
}

/** SHA-256 of each trusted key, to compare with the one that a finding names. */
export function fingerprintsOf(trustedKeys: readonly string[]): Set<string> {
  return new Set(
    trustedKeys
      .map(readKey)
      .filter((key) => key !== null)
      .map(fingerprint),
  );
}

/** A key of the policy; null for one of another kind, which therefore trusts nothing. */
function readKey(base64: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    return type === 'ed25519' || (type === 'ec' && details?.namedCurve === 'prime256v1') ? key : null;
  } catch {
    return null;
  }
}

function hasSigned(key: KeyObject, statement: Buffer, signature: Buffer): boolean {
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', statement, key, signature);
}

function fingerprint(key: KeyObject): string {
  const der = key.export({ format: 'der', type: 'spki' });
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

/** The digest that a statement is about; null for any other text. */
function signedDigest(statement: Buffer): string | null {
  const document = parse(statement);
  const critical = isRecord(document) ? document['critical'] : null;
  if (!isRecord(critical) || critical['type'] !== STATEMENT_TYPE) return null;
  const image = critical['image'];
  const digest = isRecord(image) ? image['docker-manifest-digest'] : null;
  return typeof digest === 'string' ? digest : null;
}

function parse(content: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(content.toString('utf8'));
    return document;
  } catch {
    return null;
  }
}
