import { isRecord } from '@gpuaas/contracts/is-record';
import type { Tx } from '../../../../platform/db/database.ts';
import type { Services } from '../../../../platform/services.ts';
import { MAX_MANIFEST_BYTES } from '../registry/manifest.ts';
import { findManifest } from '../registry/manifests.ts';
import { isDigest } from '../registry/targets.ts';
import { readContent } from '../read-content.ts';
import { findSystemRepository } from '../system-repository.ts';
import type { Signature } from './judge-signatures.ts';

const MAX_STATEMENT_BYTES = 65_536;
/** More than publishers of one artifact; each of them is read and verified. */
const MAX_SIGNATURES = 32;
const STATEMENT_MEDIA_TYPE = 'application/vnd.dev.cosign.simplesigning.v1+json';
const SIGNATURE_ANNOTATION = 'dev.cosignproject.cosign/signature';

/** Digest of the manifest with the signatures of an artifact, where cosign puts it; null if there is none. */
export async function findSignatures(
  tx: Tx,
  { repository, digest }: { repository: string | null; digest: string },
): Promise<string | null> {
  const found = repository === null ? null : await findSystemRepository(tx, repository);
  if (!found) return null;
  return (await findManifest(tx, found, `${digest.replace(':', '-')}.sig`))?.digest ?? null;
}

/** The signatures that a manifest of cosign names. */
export async function readSignatures(
  services: Pick<Services, 'blobs'>,
  manifestDigest: string,
): Promise<Signature[]> {
  const manifest: unknown = JSON.parse(
    (await readContent(services, manifestDigest, MAX_MANIFEST_BYTES)).toString('utf8'),
  );
  const layers: unknown[] = isRecord(manifest) && Array.isArray(manifest['layers']) ? manifest['layers'] : [];
  const signatures: Signature[] = [];
  for (const { digest, signature } of layers.map(signedLayer).filter((layer) => layer !== null))
    if (signatures.length < MAX_SIGNATURES)
      signatures.push({
        statement: await readContent(services, digest, MAX_STATEMENT_BYTES),
        signature: Buffer.from(signature, 'base64'),
      });
  return signatures;
}

function signedLayer(layer: unknown): { digest: string; signature: string } | null {
  if (!isRecord(layer) || layer['mediaType'] !== STATEMENT_MEDIA_TYPE) return null;
  const { digest, size, annotations } = layer;
  const signature = isRecord(annotations) ? annotations[SIGNATURE_ANNOTATION] : null;
  if (typeof digest !== 'string' || !isDigest(digest) || typeof signature !== 'string') return null;
  return typeof size === 'number' && size <= MAX_STATEMENT_BYTES ? { digest, signature } : null;
}
