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
/** Media type of the platform's statements, and artifact type of the manifests that carry them. */
const STATEMENT_MEDIA_TYPE = 'application/vnd.gpuaas.statement.v1+json';

/** How each format stores a signature: the type of the layer, and the annotation with the signature. */
const FORMATS = {
  cosign: {
    mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    annotation: 'dev.cosignproject.cosign/signature',
  },
  statement: { mediaType: STATEMENT_MEDIA_TYPE, annotation: 'vnd.gpuaas.statement/signature' },
} as const;

/** A manifest with signatures of an artifact. */
export interface SignatureManifest {
  format: Signature['format'];
  digest: string;
}

/** Manifests with signatures: where cosign puts them, and the referrers with the platform's statements. */
export async function findSignatures(
  tx: Tx,
  { repository, digest }: { repository: string | null; digest: string },
): Promise<SignatureManifest[]> {
  const found = repository === null ? null : await findSystemRepository(tx, repository);
  if (!found) return [];
  const cosign = await findManifest(tx, found, `${digest.replace(':', '-')}.sig`);
  const statements = await tx
    .selectFrom('registry_manifests')
    .select('digest')
    .where('repository_id', '=', found.id)
    .where('subject_digest', '=', digest)
    .where('artifact_type', '=', STATEMENT_MEDIA_TYPE)
    .orderBy('digest')
    .limit(MAX_SIGNATURES)
    .execute();
  return [
    ...(cosign ? [{ format: 'cosign' as const, digest: cosign.digest }] : []),
    ...statements.map((row) => ({ format: 'statement' as const, digest: row.digest })),
  ];
}

/** The signatures that manifests of either format name. */
export async function readSignatures(
  services: Pick<Services, 'blobs'>,
  manifests: readonly SignatureManifest[],
): Promise<Signature[]> {
  const signatures: Signature[] = [];
  for (const { format, digest } of manifests)
    for (const layer of await layersOf(services, digest)) {
      const signed = signedLayer(format, layer);
      if (signed && signatures.length < 2 * MAX_SIGNATURES)
        signatures.push({
          format,
          statement: await readContent(services, signed.digest, MAX_STATEMENT_BYTES),
          signature: Buffer.from(signed.signature, 'base64'),
        });
    }
  return signatures;
}

async function layersOf(services: Pick<Services, 'blobs'>, digest: string): Promise<unknown[]> {
  const content = await readContent(services, digest, MAX_MANIFEST_BYTES);
  const manifest: unknown = JSON.parse(content.toString('utf8'));
  const layers = isRecord(manifest) ? manifest['layers'] : null;
  return Array.isArray(layers) ? layers.slice(0, MAX_SIGNATURES) : [];
}

function signedLayer(
  format: Signature['format'],
  layer: unknown,
): { digest: string; signature: string } | null {
  const { mediaType, annotation } = FORMATS[format];
  if (!isRecord(layer) || layer['mediaType'] !== mediaType) return null;
  const { digest, size, annotations } = layer;
  const signature = isRecord(annotations) ? annotations[annotation] : null;
  if (typeof digest !== 'string' || !isDigest(digest) || typeof signature !== 'string') return null;
  return typeof size === 'number' && size <= MAX_STATEMENT_BYTES ? { digest, signature } : null;
}
