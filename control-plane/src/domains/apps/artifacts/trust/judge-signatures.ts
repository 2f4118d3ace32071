import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { isRecord } from '@gpuaas/contracts/is-record';

/** A signature beside an artifact: the statement that was signed, and the bytes of the signature. */
export interface Signature {
  /** cosign's keyed format, or the platform's statement, which also names the repository. */
  format: 'cosign' | 'statement';
  statement: Buffer;
  signature: Buffer;
}

export type Finding =
  | { verdict: 'trusted'; key: string }
  | { verdict: 'unsigned' | 'untrusted' | 'digest_mismatch'; key: null };

const COSIGN_TYPE = 'cosign container image signature';
const STATEMENT_TYPE = 'gpuaas app artifact statement';

/** What the signatures beside an artifact say about it, judged by the keys that are trusted. */
export function judgeSignatures(
  { digest, repository }: { digest: string; repository: string | null },
  signatures: readonly Signature[],
  trustedKeys: readonly string[],
): Finding {
  if (signatures.length === 0) return { verdict: 'unsigned', key: null };
  const keys = trustedKeys.map(readKey).filter((key) => key !== null);
  let aboutAnother = false;
  for (const signature of signatures)
    for (const key of keys) {
      if (!hasSigned(key, signature)) continue;
      const signed = signature.format === 'cosign' ? ofCosign(signature) : ofStatement(signature);
      if (signed?.digest !== digest) aboutAnother = true;
      else if (signed.repository === null || signed.repository === repository)
        return { verdict: 'trusted', key: fingerprint(key) };
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

/** The platform's statements are signed with Ed25519 only. */
function hasSigned(key: KeyObject, { format, statement, signature }: Signature): boolean {
  const isEd25519 = key.asymmetricKeyType === 'ed25519';
  if (format === 'statement' && !isEd25519) return false;
  return verify(isEd25519 ? null : 'sha256', statement, key, signature);
}

function fingerprint(key: KeyObject): string {
  const der = key.export({ format: 'der', type: 'spki' });
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

/** What a statement is about; a repository only where the statement names one. */
interface Signed {
  digest: string;
  repository: string | null;
}

function ofCosign({ statement }: Signature): Signed | null {
  const document = parse(statement);
  const critical = isRecord(document) ? document['critical'] : null;
  if (!isRecord(critical) || critical['type'] !== COSIGN_TYPE) return null;
  const image = critical['image'];
  const digest = isRecord(image) ? image['docker-manifest-digest'] : null;
  return typeof digest === 'string' ? { digest, repository: null } : null;
}

function ofStatement({ statement }: Signature): Signed | null {
  const document = parse(statement);
  if (!isRecord(document) || document['type'] !== STATEMENT_TYPE) return null;
  const { digest, repository } = document;
  return typeof digest === 'string' && typeof repository === 'string' ? { digest, repository } : null;
}

function parse(content: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(content.toString('utf8'));
    return document;
  } catch {
    return null;
  }
}
