import type { Tx } from '../../../platform/db/database.ts';
import { takesCanary } from './canary-share.ts';
import type { VersionRow } from './describe-manifest.ts';

/** The version that launches of a project get: the canary in its share of the projects; null if the app is not offered. */
export async function findLaunchable(tx: Tx, slug: string, projectId: string): Promise<VersionRow | null> {
  const versions = await tx
    .selectFrom('app_manifests as m')
    .innerJoin('app_manifest_versions as v', 'v.slug', 'm.slug')
    .selectAll('v')
    .where('m.slug', '=', slug)
    .where('m.active', '=', true)
    .where('v.state', 'in', ['active', 'canary'])
    .execute();
  const canary = versions.find(
    ({ version, canary_percent: percent }) =>
      percent !== null && takesCanary({ slug, version, percent }, projectId),
  );
  return canary ?? versions.find(({ state }) => state === 'active') ?? null;
}

/**
 * The same for a launch: promotions and roll-backs of the app wait until it is recorded, or it waits for theirs. Needs the
 * role `gpuaas_worker`.
 */
export async function lockLaunchable(tx: Tx, slug: string, projectId: string): Promise<VersionRow | null> {
  await tx.selectFrom('app_manifests').select('slug').where('slug', '=', slug).forShare().execute();
  return await findLaunchable(tx, slug, projectId);
}
