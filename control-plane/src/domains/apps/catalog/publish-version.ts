import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { parseRef } from '../artifacts/artifact-ref.ts';
import type { ArtifactRow } from '../artifacts/move-artifact.ts';
import { faultsOfManifest, faultsOfReference } from './check-manifest.ts';
import type { VersionRow } from './describe-manifest.ts';

type NewVersion = components['schemas']['PublishAppManifestVersion'];

/** Adds a draft; the first of a slug also adds the manifest, which is not offered yet. */
export async function publishVersion(
  tx: Tx,
  caller: Caller,
  { host, slug }: { host: string; slug: string },
  manifest: NewVersion,
): Promise<VersionRow> {
  const errors = [...faultsOfManifest(manifest), ...faultsOfReference(manifest)];
  if (errors.length > 0)
    throw new Problem('app_manifest_invalid', `The manifest of ${slug} contradicts itself.`, { errors });
  const artifact = manifest.artifact_ref ? await requireArtifact(tx, host, manifest.artifact_ref) : null;
  await tx
    .insertInto('app_manifests')
    .values({ slug, display_name: manifest.display_name })
    .onConflict((c) => c.column('slug').doNothing())
    .execute();
  const row = await tx
    .insertInto('app_manifest_versions')
    .values({
      slug,
      version: manifest.version,
      display_name: manifest.display_name,
      description: manifest.description ?? '',
      kind: manifest.kind,
      artifact_kind: 'launchable',
      artifact_ref: artifact?.digest ?? null,
      artifact_repository: artifact?.repository ?? null,
      artifact_format: manifest.artifact_format ?? null,
      compatibility: JSON.stringify(manifest.compatibility),
      runtime_profile: JSON.stringify(manifest.runtime_profile),
      parameters: JSON.stringify(manifest.parameters ?? []),
      secrets: manifest.secrets ?? [],
      platform_access: manifest.platform_access ?? [],
      cors_origins: manifest.cors_origins ?? [],
      published_by: caller.id,
      published_by_name: caller.name.slice(0, 320),
    })
    .onConflict((c) => c.columns(['slug', 'version']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) return row;
  throw new Problem('app_version_exists', `${slug} ${manifest.version} was published before.`);
}

/** The artifact of a reference, which names a digest and, if anything else, the place it was registered from. */
async function requireArtifact(tx: Tx, host: string, ref: string): Promise<ArtifactRow> {
  const { location, digest } = parseRef(ref);
  const row = await tx
    .selectFrom('app_artifacts')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst();
  if (!row || (location !== null && location !== `${host}/${row.repository}`))
    throw new Problem('artifact_unknown', `${ref} has not been registered or uploaded.`, {
      errors: [{ pointer: '/artifact_ref', detail: 'has not been registered or uploaded' }],
    });
  if (row.state === 'deprecated' || row.state === 'retired')
    throw new Problem('artifact_state', `${ref} is ${row.state}.`, { extensions: { state: row.state } });
  return row;
}
