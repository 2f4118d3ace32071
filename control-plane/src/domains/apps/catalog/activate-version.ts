import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Inspection } from '../artifacts/inspect-artifact.ts';
import type { ArtifactMove } from '../artifacts/move-artifact.ts';
import { promoteThrough } from '../artifacts/promote-artifact.ts';
import type { ManifestRow, VersionRow } from './describe-manifest.ts';
import { findVersion } from './find-manifests.ts';
import { lockManifest } from './lock-manifest.ts';
import { endCanary } from './set-canary.ts';

/** Makes a version the one that new instances start from, and promotes its artifact to active. */
export async function activateVersion(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  slug: string,
  version: string,
  inspection: Inspection,
): Promise<{ before: string | null; version: VersionRow; moves: ArtifactMove[] }> {
  const manifest = await lockManifest(tx, slug);
  const candidate = await findVersion(tx, { slug, version });
  const reason = `${slug} ${version} was activated`;
  const ended = candidate.state === 'canary' ? null : await endCanary(services, tx, slug, reason);
  const moves = await promoteThrough(services, tx, candidate, { target: 'active', reason }, inspection);
  await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft' })
    .where('slug', '=', slug)
    .where('state', '=', 'active')
    .where('version', '<>', version)
    .execute();
  const row = await tx
    .updateTable('app_manifest_versions')
    .set({
      state: 'active',
      activated_at: services.clock.now(),
      canary_percent: null,
      rolled_back_at: null,
    })
    .where('slug', '=', slug)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('app_manifests')
    .set({ version, active: true, display_name: row.display_name })
    .where('slug', '=', slug)
    .execute();
  return {
    before: manifest.active ? manifest.version : null,
    version: row,
    moves: [...(ended?.moves ?? []), ...moves],
  };
}

/** Takes an app out of the catalog, and ends its canary; its instances go on. */
export async function withdrawManifest(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  slug: string,
): Promise<{ row: ManifestRow; moves: ArtifactMove[] }> {
  await lockManifest(tx, slug);
  const ended = await endCanary(services, tx, slug, `${slug} was withdrawn`);
  await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft' })
    .where('slug', '=', slug)
    .where('state', '=', 'active')
    .execute();
  const row = await tx
    .updateTable('app_manifests')
    .set({ active: false })
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row, moves: ended?.moves ?? [] };
}
