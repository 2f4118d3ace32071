import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { lockManifest } from '../catalog/lock-manifest.ts';
import {
  lockArtifact,
  moveArtifact,
  wrongState,
  type ArtifactMove,
  type ArtifactRow,
} from './move-artifact.ts';

/** Takes an artifact back from canary to staged, and ends the canary of every app that has it. */
export async function rollBackArtifact(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  digest: string,
  reason: string,
): Promise<{ row: ArtifactRow; move: ArtifactMove; apps: string[] }> {
  const apps = await canariesOf(tx, digest);
  // Before the artifact, as everywhere.
  for (const slug of apps) await lockManifest(tx, slug);
  const row = await lockArtifact(tx, digest);
  if (row.state !== 'canary') throw wrongState(row, 'staged');
  const added = (await canariesOf(tx, digest)).find((slug) => !apps.includes(slug));
  if (added !== undefined)
    throw new Problem('artifact_state', `It has just become the canary of ${added}. Roll back again.`);
  await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft', canary_percent: null, rolled_back_at: services.clock.now() })
    .where('artifact_ref', '=', digest)
    .where('state', '=', 'canary')
    .execute();
  return { ...(await moveArtifact(services, tx, row, 'staged', reason)), apps };
}

async function canariesOf(tx: Tx, digest: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('app_manifest_versions')
    .select('slug')
    .where('artifact_ref', '=', digest)
    .where('state', '=', 'canary')
    .orderBy('slug')
    .execute();
  return rows.map(({ slug }) => slug);
}
