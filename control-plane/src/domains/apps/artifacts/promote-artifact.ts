import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { hasSbom } from './find-sbom.ts';
import type { Inspection } from './inspect-artifact.ts';
import { lintArtifact } from './lint-artifact.ts';
import {
  lockArtifact,
  moveArtifact,
  wrongState,
  type ArtifactMove,
  type ArtifactRow,
} from './move-artifact.ts';
import { requireSmokeRun } from './smoke-runs/require-smoke-run.ts';
import { canMove, stepsTo } from './states.ts';
import { judgeSignatures } from './trust/judge-signatures.ts';
import { requireTrusted } from './trust/judge-trust.ts';

type PromoteServices = Pick<Services, 'clock' | 'policies'>;

interface Step {
  to: 'staged' | 'canary' | 'active';
  reason: string;
  /** Why a draft is staged without a smoke run; null if it needs one. */
  waiver?: string | null;
}

/** One step of a locked artifact: to staged after its checks, to canary, or to active. */
export async function promoteArtifact(
  services: PromoteServices,
  tx: Tx,
  row: ArtifactRow,
  { to, reason, waiver = null }: Step,
  inspection: Inspection,
): Promise<{ row: ArtifactRow; move: ArtifactMove }> {
  // A roll-back has its own operation.
  if (!canMove(row.state, to) || (to === 'staged' && row.state !== 'draft')) throw wrongState(row, to);
  const judged = await recordTrust(services, tx, row, inspection);
  requireTrusted(services.policies, judged);
  return await take(services, tx, judged, { to, reason, waiver });
}

/** What a draft must pass before its smoke run: staging checks it again. */
export async function checkDraft(
  services: PromoteServices,
  tx: Tx,
  row: ArtifactRow,
  inspection: Inspection,
): Promise<void> {
  if (row.state !== 'draft') throw wrongState(row, 'staged');
  const judged = await recordTrust(services, tx, row, inspection);
  requireTrusted(services.policies, judged);
  await requireLint(services, tx, judged);
}

/** One step of an artifact that the policy trusts. */
async function take(
  services: PromoteServices,
  tx: Tx,
  row: ArtifactRow,
  { to, reason, waiver = null }: Step,
): Promise<{ row: ArtifactRow; move: ArtifactMove }> {
  if (to !== 'staged') return await moveArtifact(services, tx, row, to, reason);
  await requireLint(services, tx, row);
  const evidence = await requireSmokeRun(services.policies, tx, row, waiver);
  return await moveArtifact(services, tx, row, to, reason, evidence);
}

/**
 * Promotes the artifact of a version through every state to the target. One that is there must still be trusted; a
 * version without an artifact moves none.
 */
export async function promoteThrough(
  services: PromoteServices,
  tx: Tx,
  { artifact_ref: digest }: { artifact_ref: string | null },
  { target, reason }: { target: 'canary' | 'active'; reason: string },
  inspection: Inspection,
): Promise<ArtifactMove[]> {
  if (digest === null) return [];
  const row = await lockArtifact(tx, digest);
  const steps = stepsTo(row.state, target);
  if (!steps) throw wrongState(row, target);
  let current = await recordTrust(services, tx, row, inspection);
  requireTrusted(services.policies, current);
  const moves: ArtifactMove[] = [];
  for (const to of steps) {
    const moved = await take(services, tx, current, { to, reason });
    current = moved.row;
    moves.push(moved.move);
  }
  return moves;
}

/** Records what the signatures say under the keys of the policy. */
export async function recordTrust(
  { clock, policies }: PromoteServices,
  tx: Tx,
  { digest, repository }: { digest: string; repository: string | null },
  { signatures }: Inspection,
): Promise<ArtifactRow> {
  const { verdict, key } = judgeSignatures(
    { digest, repository },
    signatures,
    policies.get('apps.trusted_publisher_keys'),
  );
  return await tx
    .updateTable('app_artifacts')
    .set({ trust_verdict: verdict, trust_key: key, trust_checked_at: clock.now() })
    .where('digest', '=', digest)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function requireLint({ policies }: PromoteServices, tx: Tx, row: ArtifactRow): Promise<void> {
  const versions = await tx
    .selectFrom('app_manifest_versions')
    .selectAll()
    .where('artifact_ref', '=', row.digest)
    .orderBy('slug')
    .orderBy('version')
    .execute();
  const errors = lintArtifact({ bytes: Number(row.bytes), hasSbom: await hasSbom(tx, row) }, versions, {
    maxBytes: policies.get('apps.max_artifact_bytes'),
    sbomRequired: policies.get('apps.sbom_required'),
  });
  if (errors.length === 0) return;
  const [first] = errors;
  throw new Problem('artifact_lint_failed', `${row.digest}: ${first?.pointer} ${first?.detail}.`, { errors });
}
