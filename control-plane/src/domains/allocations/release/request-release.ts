import { sql } from 'kysely';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { ReleaseServices } from './release-hooks.ts';
import { emitAllocation, type ReleaseCause } from '../../timeline/allocation-events.ts';
import { findAllocation } from '../find-allocation.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { cancelQueued } from '../queue/leave-queue.ts';
import { releaseWorkflow, releaseWorkflowId } from './release.workflow.ts';
import { releasable } from '../states.ts';

/** Records the intent to release; the workflow does the rest. Repeating it changes nothing. */
export async function requestRelease(
  services: ReleaseServices,
  tx: Tx,
  caller: Caller,
  allocationId: string,
): Promise<AllocationRow> {
  const row = await findAllocation(tx, caller, 'allocation.release', allocationId, { lock: true });
  const state = row.state;
  if (row.desired_state === 'released' && state !== 'release_failed') return row;
  if (!releasable.has(state)) {
    throw new Problem(
      'allocation_not_releasable',
      `The allocation is ${state}; there is nothing to release.`,
      {
        extensions: { state },
      },
    );
  }
  if (state === 'queued') return await cancelQueued(services, tx, allocationId);
  for (const hook of services.releaseHooks) await hook.requested(tx, allocationId);
  return await beginRelease(services, tx, row, 'Release requested');
}

/** The tenant's own retry: only of a release that has failed. */
export async function retryFailedRelease(
  services: Services,
  tx: Tx,
  caller: Caller,
  allocationId: string,
): Promise<AllocationRow> {
  const row = await findAllocation(tx, caller, 'allocation.release', allocationId, { lock: true });
  if (row.state !== 'release_failed') {
    throw new Problem('allocation_not_releasable', `The allocation is ${row.state}; no release has failed.`, {
      extensions: { state: row.state },
    });
  }
  return await beginRelease(services, tx, row, 'Release requested again');
}

/** Applies the intent, from any source: billing stops and the release starts. */
export async function beginRelease(
  services: Services,
  tx: Tx,
  row: AllocationRow,
  why: string,
  /** Reason of a release by the platform; a person needs none. */
  cause?: ReleaseCause,
): Promise<AllocationRow> {
  const attempt = row.release_attempts + 1;
  const updated = await tx
    .updateTable('allocations')
    .set({
      desired_state: 'released',
      release_attempts: attempt,
      release_requested_at: sql`coalesce(release_requested_at, ${services.clock.now()})`,
    })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await emitAllocation(tx, 'allocation.release_requested', updated, {
    stage: 'release',
    status: 'running',
    message: row.active_at ? `${why}; billing has stopped` : why,
    ...(cause ? { cause } : {}),
  });
  await services.workflows.start(tx, releaseWorkflow, releaseWorkflowId(row.id, attempt), {
    allocationId: row.id,
    attempt,
    correlationId: updated.correlation_id,
  });
  return updated;
}
