import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { step } from '../../platform/workflows/definition.ts';
import { runTask, taskSteps } from '../fleet/run-task.ts';
import { liveClaims } from './claims.ts';
import { blockHost, deprovisionTask, reportHostBlocked } from './clean-host.ts';
import { isBaremetal, lockAllocation, type AllocationRow } from './move-allocation.ts';
import { recordCleanUp } from './record-in-groups.ts';
import { eraseHost, eraseSteps } from './root/erase-host.ts';
import { releaseTask, reportBlocked } from './wipe-slots.ts';

/** Which workflow cleans up, and what it wrote as the allocation's execution state when it began. */
export interface CleanUpRun {
  workflowId: string;
  prefix: 'provision' | 'release' | 'cleanup';
  executionState: 'cleaning up' | 'releasing';
}

/** `withdrawn`: an operator ended the allocation meanwhile; the workflow has nothing more to decide. */
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
 * A number of wipes by the host, or of erasures of the whole host. Kept with the step that decides to clean up: a run that
 * is resumed must not count by another number than it began with.
 */
export type CleanUpPlan = number | { erasures: number };

/**
 * Inside a workflow: has the host remove what the allocation left and prove it, or has it erased where its word is worth
 * nothing, as often as the plan says. Claims end only with a verified proof.
 */
export async function cleanUp(
  services: Services,
  allocationId: string,
  run: CleanUpRun,
  plan: CleanUpPlan,
): Promise<CleanUpResult> {
  return typeof plan === 'number'
    ? await haveWiped(services, allocationId, run, plan)
    : await haveErased(services, allocationId, run, plan.erasures);
}

export function planCleanUp(
  policies: Policies,
  { root_granted_at }: Pick<AllocationRow, 'root_granted_at'>,
): CleanUpPlan {
  const attempts = policies.get('allocations.wipe_attempts');
  return root_granted_at ? { erasures: attempts } : attempts;
}

/** For who has not read the allocation. */
export async function planCleanUpOf({ db, policies }: Services, allocationId: string): Promise<CleanUpPlan> {
  const allocation = await db
    .selectFrom('allocations')
    .select('root_granted_at')
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  return planCleanUp(policies, allocation);
}

async function haveWiped(
  services: Services,
  allocationId: string,
  run: CleanUpRun,
  attempts: number,
): Promise<CleanUpResult> {
  const name = `${run.prefix}.wipe`;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const deadlineSeconds = services.policies.get('allocations.wipe_deadline_seconds');
    const result = await runTask(services, name, deadlineSeconds, (tx) =>
      cleanUpTask(services, tx, allocationId, run, attempt),
    );
    const { executionState } = run;
    const left = await step(`${name}.record`, () =>
      recordCleanUp(services, { allocationId, executionState, result }),
    );
    if (left !== 'held') return left;
  }
  await step(`${name}.blocked`, () => quarantine(services, allocationId, attempts));
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
    if (typeof result === 'string') return result;
    why = result.failed;
  }
  await step(`${run.prefix}.wipe.blocked`, () => quarantine(services, allocationId, attempts, why));
  return 'blocked';
}

/** How long all attempts together may take. */
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
  run: CleanUpRun,
  attempt: number,
) {
  const allocation = await lockAllocation(tx, allocationId);
  if (allocation.execution_state !== run.executionState || (await liveClaims(tx, allocationId)) === 0)
    return null;
  const about = {
    nodeId: allocation.node_id!,
    correlationId: allocation.correlation_id,
    allocationId,
    workflowId: run.workflowId,
    dedupeKey: `${run.workflowId}:wipe:${attempt}`,
  };
  return isBaremetal(allocation)
    ? { ...about, ...deprovisionTask(services, allocation) }
    : { ...about, ...(await releaseTask(services, tx, allocation)) };
}

/** Nothing tries again at once from here: the reconciler does after a while, and an operator may before. */
async function quarantine(
  services: Services,
  allocationId: string,
  attempts: number,
  why?: string,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const allocation = await lockAllocation(tx, allocationId);
    // Said late, by a run that was resumed, it would quarantine what was settled since and may be another tenant's.
    if ((await liveClaims(tx, allocationId)) === 0) return;
    if (why !== undefined) await blockHost(tx, allocation, `Not erased: ${why}`);
    if (isBaremetal(allocation)) await reportHostBlocked(services, tx, allocation, { attempts, why });
    else await reportBlocked(services, tx, allocationId, attempts);
  });
}
