import { isRecord } from '@gpuaas/contracts/is-record';
import type { Caller } from '../../../platform/auth/caller.ts';
import { keepBlob } from '../../../platform/blobs/keep-blob.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Read } from './inspect-artifact.ts';
import type { ArtifactRow } from './move-artifact.ts';
import { readContent } from './read-content.ts';
import { findManifest } from './registry/manifests.ts';
import { MAX_MANIFEST_BYTES } from './registry/manifest.ts';
import { isDigest } from './registry/targets.ts';
import { findSystemRepository } from './system-repository.ts';

/** An artifact of the registry, as its tag was resolved. */
export interface ResolvedArtifact {
  repository: string;
  tag: string | null;
  digest: string;
  payload: { digest: string; bytes: number; mediaType: string };
  /** How it came; the tag that was resolved by default. */
  reason?: string;
}

/** Resolves a tag or digest, once, and reads the manifest that it names. */
export async function resolveArtifact(
  services: Pick<Services, 'blobs'>,
  read: Read,
  { repository, reference }: { repository: string; reference: string },
): Promise<ResolvedArtifact> {
  const manifest = await read(async (tx) => {
    const found = await findSystemRepository(tx, repository);
    return found && (await findManifest(tx, found, reference));
  });
  if (!manifest) throw new Problem('artifact_unknown', `The registry has no ${repository} ${reference}.`);
  const content = await readContent(services, manifest.digest, MAX_MANIFEST_BYTES);
  return {
    repository,
    tag: isDigest(reference) ? null : reference,
    digest: manifest.digest,
    payload: payloadOf(content),
  };
}

/** The one layer of an artifact. Images of several layers and indexes need a container runtime. */
function payloadOf(content: Buffer): ResolvedArtifact['payload'] {
  const manifest: unknown = JSON.parse(content.toString('utf8'));
  const layers: unknown[] = isRecord(manifest) && Array.isArray(manifest['layers']) ? manifest['layers'] : [];
  const [layer] = layers;
  const { digest, size, mediaType } = isRecord(layer) ? layer : {};
  if (
    layers.length !== 1 ||
    typeof digest !== 'string' ||
    typeof size !== 'number' ||
    typeof mediaType !== 'string'
  )
    throw new Problem(
      'artifact_unsupported',
      `An app artifact has one layer, its payload; this has ${layers.length}.`,
    );
  return { digest, bytes: size, mediaType };
}

/** Records a draft and keeps its content. One that is known stays as it is, with the tag and repository it came from. */
export async function registerArtifact(
  tx: Tx,
  caller: Caller,
  { repository, tag, digest, payload, reason }: ResolvedArtifact,
): Promise<{ row: ArtifactRow; fresh: boolean }> {
  const row = await tx
    .insertInto('app_artifacts')
    .values({
      id: newId(),
      digest,
      repository,
      registered_tag: tag,
      media_type: payload.mediaType,
      payload_digest: payload.digest,
      bytes: BigInt(payload.bytes),
      state_reason: reason ?? (tag === null ? 'Registered' : `Registered as ${tag}`),
      uploaded_by: caller.id,
      uploaded_by_name: caller.name.slice(0, 320),
    })
    .onConflict((c) => c.column('digest').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    const known = await tx
      .selectFrom('app_artifacts')
      .selectAll()
      .where('digest', '=', digest)
      .executeTakeFirstOrThrow();
    return { row: known, fresh: false };
  }
  for (const kept of [digest, payload.digest])
    await keepBlob(tx, { digest: kept, tenantId: null, subjectType: 'app_artifact', subjectId: row.id });
  return { row, fresh: true };
}
