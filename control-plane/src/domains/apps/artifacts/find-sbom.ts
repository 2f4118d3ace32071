import type { Tx } from '../../../platform/db/database.ts';
import { findSystemRepository } from './system-repository.ts';

/** Artifact types of referrers that list what is in an artifact. */
const SBOM_TYPES = ['application/spdx+json', 'text/spdx', 'application/vnd.cyclonedx+json'];

/** Whether the repository has a bill of materials of the artifact. */
export async function hasSbom(
  tx: Tx,
  { repository, digest }: { repository: string | null; digest: string },
): Promise<boolean> {
  const found = repository === null ? null : await findSystemRepository(tx, repository);
  if (!found) return false;
  const row = await tx
    .selectFrom('registry_manifests')
    .select('id')
    .where('repository_id', '=', found.id)
    .where('subject_digest', '=', digest)
    .where('artifact_type', 'in', SBOM_TYPES)
    .executeTakeFirst();
  return row !== undefined;
}
