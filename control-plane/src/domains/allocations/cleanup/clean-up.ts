import type { Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { step } from '../../../platform/workflows/definition.ts';
import { runTask, taskSteps } from '../../tasks/run-task.ts';
import { isExecutedBy } from '../execution.ts';
import { liveClaims } from '../claims.ts';
import { emitSlotsChanged } from '../../fleet/slots/transition-slots.ts';
import { decideCleanup, type CleanupCause, type CleanupSituation } from './decide-cleanup.ts';
import { blockHost } from './host-cleanup.ts';
import { type AllocationRow, hostOf, lockAllocation } from '../transition-allocation.ts';
import type { CleanupServices } from './record-cleanup.ts';
import { eraseHost, eraseSteps } from '../root/erase-host.ts';
import { shapeOf } from '../shapes/shape-of.ts';

/** The workflow that cleans up. */
export interface CleanUpRun {
  workflowId: string;
  prefix: 'provision' | 'release' | 'cleanup';
}

/** `withdrawn`: an operator ended the allocation in the meantime; the workflow has nothing left to decide. */
export type CleanUpResult = 'clean' | 'blocked' | 'withdrawn';

export function cleanUpSteps(prefix: CleanUpRun['prefix']): string[] {
  return [
    ...taskSteps(`${prefix}.wipe`),
    `${prefix}.wipe.record`,
    ...eraseSteps(prefix),
    `${prefix}.wipe.blocked`,
  ];
}

/**
 * Number of wipes by the host, or of erasures of the whole host. Stored with the step that decides to clean
 * up, so that a resumed run keeps its original number.
 */
export interface CleanUpPlan {
  kind: 'wipe' | 'erase';
  attempts: number;
  /** Absent from plans of earlier releases. */
  cause?: CleanupCause;
  isPreConfirmed?: boolean;
}

/**
 * Inside a workflow: has the host remove the allocation's data and prove it, or has the host erased if its
 * reports cannot be trusted, with as many attempts as the plan allows. Claims end only with a verified proof.
 */
export async function cleanUp(
  services: CleanupServices,
  allocationId: string,
  run: CleanUpRun,
  plan: CleanUpPlan,
): Promise<CleanUpResult> {
  switch (plan.kind) {
    case 'wipe':
      return await haveWiped(services, allocationId, run, plan);
    case 'erase':
      return await haveErased(services, allocationId, run, plan.attempts);
    default:
      // Stored by an earlier release; the reconciler starts the work again.
      throw new Error('a cleanup plan of an earlier release');
  }
}

export function planCleanUp(
  policies: Policies,
  { root_granted_at }: Pick<AllocationRow, 'root_granted_at'>,
  cause: CleanupCause,
): CleanUpPlan {
  return {
    kind: root_granted_at ? 'erase' : 'wipe',
    attempts: policies.get('allocations.wipe_attempts'),
    cause,
    isPreConfirmed: policies.get('allocations.wipe_after_failed_launch'),
  };
}

/** The plan for callers that have not loaded the allocation. */
export async function loadCleanUpPlan(
  { db, policies }: Services,
  allocationId: string,
  cause: CleanupCause,
): Promise<CleanUpPlan> {
  const allocation = await db
    .selectFrom('allocations')
    .select('root_granted_at')
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  return planCleanUp(policies, allocation, cause);
}

async function haveWiped(
  services: CleanupServices,
  allocationId: string,
  run: CleanUpRun,
  plan: CleanUpPlan,
): Promise<CleanUpResult> {
  const name = `${run.prefix}.wipe`;
  let failures = 0;
  let refusal: string | null = null;
  for (let attempt = 1; attempt <= plan.attempts; attempt += 1) {
    const deadlineSeconds = services.policies.get('allocations.wipe_deadline_seconds');
    const result = await runTask(services, name, deadlineSeconds, (tx) =>
      cleanUpTask(services, tx, allocationId, { ...run, attempt }, { ...plan, failures, refusal }),
    );
    const left = await step(`${name}.record`, () =>
      services.cleanupRecorder.record(services, { allocationId, workflowId: run.workflowId, result }),
    );
    if (left !== 'held') return left;
    // The host did as it was asked, or nothing more was asked of it.
    if (result === null || result.outcome === 'succeeded') break;
    [failures, refusal] = [failures + 1, result.error?.code ?? null];
  }
  await step(`${name}.blocked`, () => quarantine(services, allocationId, failures));
  return 'blocked';
}

async function haveErased(
  services: Services,
  allocationId: string,
  run: CleanUpRun,
  attempts: number,
): Promise<CleanUpResult> {
  let why = '';
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const result = await eraseHost(services, allocationId, run);
    if (result.kind !== 'failed') return result.kind;
    why = result.detail;
  }
  await step(`${run.prefix}.wipe.blocked`, () => quarantine(services, allocationId, attempts, why));
  return 'blocked';
}

/** Time limit for all attempts together. */
export function cleanUpDeadline(policies: Policies): number {
  const wipe = policies.get('allocations.wipe_deadline_seconds');
  const erasure = policies.get('allocations.root_on_redeployable_hosts')
    ? policies.get('fleet.maas_deadline_seconds')
    : 0;
  return policies.get('allocations.wipe_attempts') * Math.max(wipe, erasure);
}

async function cleanUpTask(
  services: Services,
  tx: Tx,
  allocationId: string,
  { attempt, ...run }: CleanUpRun & { attempt: number },
  {
    cause = 'release',
    isPreConfirmed = false,
    ...plan
  }: CleanUpPlan & Pick<CleanupSituation, 'failures' | 'refusal'>,
) {
  const allocation = await lockAllocation(tx, allocationId);
  if (!isExecutedBy(allocation, run.workflowId) || (await liveClaims(tx, allocationId)) === 0) return null;
  const { ownDataOnly } = shapeOf(allocation);
  const decision = decideCleanup({ ...plan, cause, isPreConfirmed, ownDataOnly });
  if (decision.kind === 'wait_for_operator') return null;
  const about = {
    nodeId: hostOf(allocation),
    correlationId: allocation.correlation_id,
    subject: { type: 'allocation', id: allocationId } as const,
    workflowId: run.workflowId,
    dedupeKey: `${run.workflowId}:wipe:${attempt}`,
  };
  return { ...about, ...(await shapeOf(allocation).cleanupTask(services, tx, allocation, decision.scope)) };
}

/** Only an operator leads out of here. */
async function quarantine(
  services: Services,
  allocationId: string,
  attempts: number,
  why?: string,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const allocation = await lockAllocation(tx, allocationId);
    // A resumed run may arrive late and would quarantine slots that were settled since and may belong to
    // another tenant.
    if ((await liveClaims(tx, allocationId)) === 0) return;
    if (why !== undefined) await blockHost(tx, allocation, `Not erased: ${why}`);
    else await shapeOf(allocation).moveHeld(tx, allocation, { to: 'cleanup_blocked' });
    await emitSlotsChanged(tx, hostOf(allocation), allocation.correlation_id);
    await shapeOf(allocation).reportBlocked(services, tx, allocation, { attempts, why });
  });
}
