import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { faultsOfManifest } from './check-manifest.ts';
import type { VersionRow } from './describe-manifest.ts';

type NewVersion = components['schemas']['PublishAppManifestVersion'];

/** Adds a draft; the first of a slug also adds the manifest, which is not offered yet. */
export async function publishVersion(
  tx: Tx,
  caller: Caller,
  slug: string,
  manifest: NewVersion,
): Promise<VersionRow> {
  const errors = faultsOfManifest(manifest);
  if (errors.length > 0)
    throw new Problem('app_manifest_invalid', `The manifest of ${slug} contradicts itself.`, { errors });
  await requireArtifact(tx, manifest.artifact_ref ?? null);
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
      artifact_ref: manifest.artifact_ref ?? null,
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

async function requireArtifact(tx: Tx, digest: string | null): Promise<void> {
  if (digest === null) return;
  const row = await tx
    .selectFrom('app_artifacts')
    .select('id')
    .where('digest', '=', digest)
    .executeTakeFirst();
  if (row) return;
  throw new Problem('artifact_unknown', `${digest} has not been uploaded.`, {
    errors: [{ pointer: '/artifact_ref', detail: 'has not been uploaded' }],
  });
}
