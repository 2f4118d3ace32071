import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { Inspection } from '../artifacts/inspect-artifact.ts';
import { lockArtifact, moveArtifact, type ArtifactMove } from '../artifacts/move-artifact.ts';
import { promoteThrough } from '../artifacts/promote-artifact.ts';
import type { VersionRow } from './describe-manifest.ts';
import { findOffered, findVersion } from './find-manifests.ts';
import { lockManifest } from './lock-manifest.ts';

/** A version whose share began, grew or ended, with the moves of its artifact. */
export interface CanaryChange {
  before: number | null;
  version: VersionRow;
  moves: ArtifactMove[];
}

/** Gives a version a share of the new launches, or raises the one it has. */
export async function setCanary(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  { slug, version, percent, reason }: { slug: string; version: string; percent: number; reason: string },
  inspection: Inspection,
): Promise<CanaryChange> {
  await lockManifest(tx, slug);
  const candidate = await findVersion(tx, { slug, version });
  const active = await findOffered(tx, slug);
  const fault = faultOfCanary(active, candidate, percent, await findCanary(tx, slug));
  if (fault !== null) throw new Problem('app_canary_refused', `${slug} ${version} ${fault}.`);
  const moves = await promoteThrough(services, tx, candidate, { target: 'canary', reason }, inspection);
  const row = await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'canary', canary_percent: percent, rolled_back_at: null })
    .where('slug', '=', slug)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before: candidate.canary_percent, version: row, moves };
}

/** Ends the canary of a locked manifest; null if it has none. Its artifact is staged unless another app has it as canary. */
export async function endCanary(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  slug: string,
  reason: string,
): Promise<CanaryChange | null> {
  const canary = await findCanary(tx, slug);
  if (!canary) return null;
  const artifact = canary.artifact_ref === null ? null : await lockArtifact(tx, canary.artifact_ref);
  const version = await tx
    .updateTable('app_manifest_versions')
    .set({ state: 'draft', canary_percent: null, rolled_back_at: services.clock.now() })
    .where('slug', '=', slug)
    .where('version', '=', canary.version)
    .returningAll()
    .executeTakeFirstOrThrow();
  const moves =
    artifact?.state === 'canary' && !(await isCanaryElsewhere(tx, artifact.digest))
      ? [(await moveArtifact(services, tx, artifact, 'staged', reason)).move]
      : [];
  return { before: canary.canary_percent, version, moves };
}

/** Why a version cannot have this share; null if it can. */
function faultOfCanary(
  active: VersionRow | null,
  candidate: VersionRow,
  percent: number,
  canary: VersionRow | null,
): string | null {
  if (!active) return 'has no active version beside it: activate it instead';
  if (candidate.state === 'active') return 'is active';
  if (canary && canary.version !== candidate.version)
    return `waits for the end of the canary ${canary.version}: activate it or roll it back`;
  if (candidate.canary_percent !== null && percent <= candidate.canary_percent)
    return `has ${candidate.canary_percent} % already: a share is only raised`;
  const different = (['kind', 'compatibility', 'parameters', 'secrets'] as const).find(
    (part) => !isDeepStrictEqual(active[part], candidate[part]),
  );
  return different ? `has another ${different} than the active version: activate it instead` : null;
}

async function findCanary(tx: Tx, slug: string): Promise<VersionRow | null> {
  const row = await tx
    .selectFrom('app_manifest_versions')
    .selectAll()
    .where('slug', '=', slug)
    .where('state', '=', 'canary')
    .executeTakeFirst();
  return row ?? null;
}

async function isCanaryElsewhere(tx: Tx, digest: string): Promise<boolean> {
  const row = await tx
    .selectFrom('app_manifest_versions')
    .select('slug')
    .where('artifact_ref', '=', digest)
    .where('state', '=', 'canary')
    .executeTakeFirst();
  return row !== undefined;
}
