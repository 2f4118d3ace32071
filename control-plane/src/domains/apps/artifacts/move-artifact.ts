import type { FastifyRequest } from 'fastify';
import type { Selectable } from 'kysely';
import { auditActor } from '../../../platform/audit/actor.ts';
import { recordAudits } from '../../../platform/audit/record.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AppArtifacts } from '../../../platform/db/generated/schema.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import type { Evidence } from './smoke-runs/require-smoke-run.ts';
import { canMove, type ArtifactState } from './states.ts';

export type ArtifactRow = Selectable<AppArtifacts>;

/** One move, as the audit log shows it. */
export interface ArtifactMove {
  digest: string;
  before: ArtifactState;
  after: ArtifactState;
  reason: string;
  /** Of a draft that was staged. */
  evidence?: Evidence;
}

export async function findArtifact(tx: Tx, digest: string): Promise<ArtifactRow> {
  const row = await tx
    .selectFrom('app_artifacts')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** Other promoters and launches of the artifact wait until the transaction ends. Lock manifests before artifacts. */
export async function lockArtifact(tx: Tx, digest: string): Promise<ArtifactRow> {
  const row = await tx
    .selectFrom('app_artifacts')
    .selectAll()
    .where('digest', '=', digest)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** Moves a locked artifact along one arrow. The caller sees to the audit row of the move. */
export async function moveArtifact(
  { clock }: { clock: Clock },
  tx: Tx,
  row: ArtifactRow,
  after: ArtifactState,
  reason: string,
  evidence?: Evidence,
): Promise<{ row: ArtifactRow; move: ArtifactMove }> {
  const { digest, state: before } = row;
  if (!canMove(before, after)) throw wrongState(row, after);
  const moved = await tx
    .updateTable('app_artifacts')
    .set({ state: after, state_reason: reason, state_changed_at: clock.now(), ...evidence })
    .where('digest', '=', digest)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row: moved, move: { digest, before, after, reason, ...(evidence ? { evidence } : {}) } };
}

export function wrongState({ digest, state }: ArtifactRow, wanted: ArtifactState): Problem {
  return new Problem('artifact_state', `${digest} is ${state} and cannot become ${wanted}.`, {
    extensions: { state },
  });
}

/** Audit rows of moves that another operation made on its way, in its transaction. */
export async function auditMoves(
  tx: Tx,
  { caller, request }: { caller: Caller; request: FastifyRequest },
  moves: readonly ArtifactMove[],
): Promise<void> {
  if (moves.length === 0) return;
  const actor = {
    actorUserId: caller.actorId,
    ...auditActor(caller, request),
    actorRole: caller.role,
    result: 'succeeded' as const,
    correlationId: request.id,
  };
  await recordAudits(
    tx,
    moves.map((move) => ({ ...actor, action: 'app_artifact.move', ...auditTarget(move) })),
  );
}

/** Target of the audit row of a move. */
export function auditTarget({ digest, before, after, reason, evidence }: ArtifactMove) {
  return {
    targetType: 'app_artifact',
    targetId: digest,
    before: { state: before },
    after: { state: after },
    detail: { reason, ...evidence },
  };
}
