import { sql } from 'kysely';
import type { Caller } from '../../../../platform/auth/caller.ts';
import { dropBlobs, keepBlob } from '../../../../platform/blobs/keep-blob.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { newId } from '../../../../platform/ids.ts';
import { first } from '../../../../platform/present.ts';
import type { Descriptor, Manifest } from './manifest.ts';
import { OciError } from './oci-error.ts';
import type { Repository } from './repositories.ts';
import type { StoredBlob } from './repository-blobs.ts';
import { isDigest } from './targets.ts';

const SUBJECT = 'registry_manifest';

export interface FoundManifest {
  id: string;
  digest: string;
  mediaType: string;
  bytes: number;
}

/** A manifest by digest, or by the tag that names it now. */
export async function findManifest(
  tx: Tx,
  { id }: Repository,
  reference: string,
): Promise<FoundManifest | null> {
  const row = await tx
    .selectFrom('registry_manifests as m')
    .select(['m.id', 'm.digest', 'm.media_type', 'm.bytes'])
    .where('m.repository_id', '=', id)
    .where(
      'm.digest',
      '=',
      isDigest(reference)
        ? reference
        : sql<string>`(select t.digest from registry_tags t where t.repository_id = ${id} and t.name = ${reference})`,
    )
    .executeTakeFirst();
  return (
    (row && { id: row.id, digest: row.digest, mediaType: row.media_type, bytes: Number(row.bytes) }) || null
  );
}

export async function requireManifest(
  tx: Tx,
  repository: Repository,
  reference: string,
): Promise<FoundManifest> {
  const manifest = await findManifest(tx, repository, reference);
  if (!manifest)
    throw new OciError(404, 'MANIFEST_UNKNOWN', 'The repository has no such manifest.', { reference });
  return manifest;
}

/** Adds a stored manifest to a repository. What it names must be there, and stays while the manifest does. */
export async function addManifest(
  tx: Tx,
  caller: Caller,
  repository: Repository,
  manifest: Manifest,
  { digest, bytes }: StoredBlob,
): Promise<void> {
  const { id: repositoryId, organizationId } = repository;
  await requireContent(tx, 'registry_blobs', repositoryId, manifest.blobs);
  await requireContent(tx, 'registry_manifests', repositoryId, manifest.manifests);
  const { rows } = await sql<{ id: string; fresh: boolean }>`
    insert into registry_manifests (id, organization_id, repository_id, digest, media_type, artifact_type, bytes,
      subject_digest, annotations, pushed_by, pushed_by_name)
    values (${newId()}, ${organizationId}, ${repositoryId}, ${digest}, ${manifest.mediaType},
      ${manifest.artifactType}, ${bytes}, ${manifest.subject}, ${JSON.stringify(manifest.annotations)},
      ${caller.id}, ${caller.name.slice(0, 320)})
    on conflict (repository_id, digest) do update set pushed_at = registry_manifests.pushed_at
    returning id, xmax = 0 as fresh`.execute(tx);
  const { id, fresh } = first(rows, 'manifest');
  await keepBlob(tx, { digest, tenantId: organizationId, subjectType: SUBJECT, subjectId: id });
  if (!fresh) return;
  const owner = { organization_id: organizationId, repository_id: repositoryId, manifest_id: id };
  const namedBlobs = digestsOf(manifest.blobs).map((named) => ({ ...owner, digest: named }));
  const children = digestsOf(manifest.manifests).map((named) => ({ ...owner, digest: named }));
  if (namedBlobs.length > 0) await tx.insertInto('registry_manifest_blobs').values(namedBlobs).execute();
  if (children.length > 0) await tx.insertInto('registry_manifest_children').values(children).execute();
}

/** Deletes a manifest and the tags that name it; one that an index names stays. */
export async function removeManifest(tx: Tx, repository: Repository, digest: string): Promise<FoundManifest> {
  const manifest = await requireManifest(tx, repository, digest);
  const { rows: parents } = await sql`
    select from registry_manifest_children where repository_id = ${repository.id} and digest = ${digest} limit 1
  `.execute(tx);
  if (parents.length > 0)
    throw new OciError(405, 'UNSUPPORTED', 'An index names this manifest. Delete the index first.');
  await tx
    .deleteFrom('registry_tags')
    .where('repository_id', '=', repository.id)
    .where('digest', '=', digest)
    .execute();
  await tx.deleteFrom('registry_manifests').where('id', '=', manifest.id).execute();
  await dropBlobs(tx, { subjectType: SUBJECT, subjectId: manifest.id });
  return manifest;
}

/** Locks what a manifest names against the collector, and compares the sizes. */
async function requireContent(
  tx: Tx,
  table: 'registry_blobs' | 'registry_manifests',
  repositoryId: string,
  wanted: readonly Descriptor[],
): Promise<void> {
  if (wanted.length === 0) return;
  const rows = await tx
    .selectFrom(table)
    .select(['digest', 'bytes'])
    .where('repository_id', '=', repositoryId)
    .where('digest', 'in', digestsOf(wanted))
    .orderBy('digest')
    .forKeyShare()
    .execute();
  const sizes = new Map(rows.map(({ digest, bytes }) => [digest, Number(bytes)]));
  const missing = wanted.find(({ digest }) => !sizes.has(digest));
  if (missing)
    throw new OciError(404, 'MANIFEST_BLOB_UNKNOWN', `The repository does not have ${missing.digest}.`, {
      digest: missing.digest,
    });
  const wrong = wanted.find(({ digest, size }) => sizes.get(digest) !== size);
  if (!wrong) return;
  const bytes = sizes.get(wrong.digest);
  throw new OciError(
    400,
    'MANIFEST_INVALID',
    `The manifest is not valid: ${wrong.digest} has ${bytes} bytes, not ${wrong.size}.`,
  );
}

function digestsOf(descriptors: readonly Descriptor[]): string[] {
  return [...new Set(descriptors.map(({ digest }) => digest))];
}
