import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { ManifestRow, VersionRow } from './describe-manifest.ts';
import { findVersion } from './find-manifests.ts';

/** Makes a version, and its payload, the one that new instances start from. */
export async function activateVersion(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  slug: string,
  version: string,
): Promise<{ before: string | null; version: VersionRow }> {
  const manifest = await lockManifest(tx, slug);
  const { artifact_ref: artifact } = await findVersion(tx, { slug, version });
  await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft' })
    .where('slug', '=', slug)
    .where('state', '=', 'active')
    .where('version', '<>', version)
    .execute();
  if (artifact !== null)
    await tx.updateTable('app_artifacts').set({ state: 'active' }).where('digest', '=', artifact).execute();
  const row = await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'active', activated_at: clock.now() })
    .where('slug', '=', slug)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('app_manifests')
    .set({ version, active: true, display_name: row.display_name })
    .where('slug', '=', slug)
    .execute();
  return { before: manifest.active ? manifest.version : null, version: row };
}

/** Takes an app out of the catalog; its instances go on. */
export async function withdrawManifest(tx: Tx, slug: string): Promise<ManifestRow> {
  await lockManifest(tx, slug);
  await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft' })
    .where('slug', '=', slug)
    .where('state', '=', 'active')
    .execute();
  return await tx
    .updateTable('app_manifests')
    .set({ active: false })
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function lockManifest(tx: Tx, slug: string): Promise<ManifestRow> {
  const row = await tx
    .selectFrom('app_manifests')
    .selectAll()
    .where('slug', '=', slug)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
