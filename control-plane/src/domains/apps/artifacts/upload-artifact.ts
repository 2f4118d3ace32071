import type { Readable } from 'node:stream';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { BlobError } from '../../../platform/blobs/blob-error.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { ArtifactRow } from './move-artifact.ts';
import { registerArtifact } from './register-artifact.ts';
import { OCI_MANIFEST, parseManifest } from './registry/manifest.ts';
import { addManifest } from './registry/manifests.ts';
import { ensureSystemRepository } from './registry/repositories.ts';
import { addBlob, type StoredBlob } from './registry/repository-blobs.ts';
import { UPLOADS } from './system-repository.ts';

export type PayloadKind = components['schemas']['PayloadKind'];

/** Content of an upload, stored before the transaction that records it. */
export interface ReceivedUpload {
  manifest: Buffer;
  /** All that the repository gets; the manifest is the last. */
  payload: StoredBlob;
  config: StoredBlob;
  stored: StoredBlob;
  mediaType: string;
}

/** The config that artifacts without one have, by the specification of OCI images. */
const EMPTY = { mediaType: 'application/vnd.oci.empty.v1+json', content: Buffer.from('{}') };

/** Receives a payload and stores the manifest that makes it an OCI artifact. The same payload has the same manifest. */
export async function receiveUpload(
  { blobs }: Pick<Services, 'blobs'>,
  content: Readable,
  { digest, kind, maxBytes }: { digest: string; kind: PayloadKind; maxBytes: number },
): Promise<ReceivedUpload> {
  const own = { tenantId: null, maxBytes };
  try {
    const payload = await blobs.put(content, { ...own, expectedDigest: digest });
    const config = await blobs.put(EMPTY.content, own);
    const mediaType = `application/vnd.gpuaas.${kind}.v1`;
    const manifest = manifestOf(mediaType, config, payload);
    return { manifest, payload, config, stored: await blobs.put(manifest, own), mediaType };
  } catch (error) {
    throw refusalOf(error, maxBytes);
  }
}

function manifestOf(mediaType: string, config: StoredBlob, payload: StoredBlob): Buffer {
  const manifest = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType: mediaType,
    config: { mediaType: EMPTY.mediaType, digest: config.digest, size: config.bytes },
    layers: [{ mediaType, digest: payload.digest, size: payload.bytes }],
  };
  return Buffer.from(JSON.stringify(manifest));
}

function refusalOf(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof BlobError)) return error;
  if (error.code === 'digest_mismatch')
    return new Problem('artifact_digest_mismatch', `What was sent ends as ${error.message}.`);
  if (error.code === 'too_large')
    return new Problem('artifact_too_large', `A payload has at most ${maxBytes} bytes.`);
  return new Problem('service_unavailable', 'The content store does not take content now.', {
    cause: error,
    retryAfterSeconds: 30,
  });
}

/** Puts an upload into its repository of the registry, and records it as a draft. */
export async function recordUpload(
  services: Pick<Services, 'policies'>,
  tx: Tx,
  caller: Caller,
  { manifest, payload, config, stored, mediaType }: ReceivedUpload,
): Promise<ArtifactRow> {
  const repository = await ensureSystemRepository(services, tx, UPLOADS.name);
  for (const blob of [payload, config]) await addBlob(tx, repository, blob);
  await addManifest(tx, caller, repository, parseManifest(manifest, OCI_MANIFEST), stored);
  const { row } = await registerArtifact(tx, caller, {
    repository: repository.path,
    tag: null,
    digest: stored.digest,
    payload: { ...payload, mediaType },
    reason: 'Uploaded',
  });
  if (row.state === 'retired') throw new Problem('artifact_state', `${row.digest} was retired.`);
  return row;
}
