import type { Tx } from '../../../../platform/db/database.ts';
import { given } from '../../../../platform/db/given.ts';
import { OCI_INDEX } from './manifest.ts';
import type { Repository } from './repositories.ts';

/** With the largest annotations that a manifest may have, a page stays below 4 MiB. */
const PAGE = 50;

/** Manifests that describe a digest, such as its signatures, as an index; null as the next one on the last page. */
export async function listReferrers(
  tx: Tx,
  { id }: Repository,
  { digest, artifactType, last }: { digest: string; artifactType?: string; last?: string },
): Promise<{ index: object; next: string | null }> {
  const rows = await tx
    .selectFrom('registry_manifests')
    .select(['digest', 'media_type', 'artifact_type', 'bytes', 'annotations'])
    .where('repository_id', '=', id)
    .where('subject_digest', '=', digest)
    .$call(given(artifactType, (q, value) => q.where('artifact_type', '=', value)))
    .$call(given(last, (q, value) => q.where('digest', '>', value)))
    .orderBy('digest')
    .limit(PAGE + 1)
    .execute();
  const page = rows.slice(0, PAGE);
  const manifests = page.map((row) => ({
    mediaType: row.media_type,
    digest: row.digest,
    size: Number(row.bytes),
    ...(row.artifact_type === null ? {} : { artifactType: row.artifact_type }),
    ...(row.annotations === null ? {} : { annotations: row.annotations }),
  }));
  const next = rows.length > PAGE ? (page.at(-1)?.digest ?? null) : null;
  return { index: { schemaVersion: 2, mediaType: OCI_INDEX, manifests }, next };
}
