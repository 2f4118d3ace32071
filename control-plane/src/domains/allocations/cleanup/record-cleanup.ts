import { Batcher, publishEjection } from '../../../platform/batcher.ts';
import type { Services } from '../../../platform/services.ts';
import type { TaskOutcome } from '../../tasks/complete-task.ts';
import { isExecutedBy } from '../execution.ts';
import { liveClaimsByAllocation } from '../claims.ts';
import { lockAllocations } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { first, get } from '../../../platform/present.ts';

/** A host's evidence of a cleanup; null if the cleanup was cancelled. */
export interface CleanUpEvidence {
  allocationId: string;
  /** The workflow that requested the cleanup. */
  workflowId: string;
  result: (TaskOutcome & { taskId: string }) | null;
}

/** `held`: something is not proven clean. `withdrawn`: in addition, an operator has ended the allocation. */
export type CleanUpOutcome = 'clean' | 'held' | 'withdrawn';

/**
 * One batch at a time: the certificate chain serialises them anyway, so the next batch collects in the
 * meantime.
 */
const BATCH_LIMITS = { batch: 'cleanups', size: 32, underWay: 1 };

/** Evidence together with the services of the workflow that brings it. */
interface Brought {
  services: Services;
  evidence: CleanUpEvidence;
}

/** Records evidence in batches; a process has one. */
export class CleanupRecorder {
  readonly #batcher = new Batcher<Brought, CleanUpOutcome | 'alone'>(
    (group) =>
      recordTogether(
        first(group, 'evidence').services,
        group.map(({ evidence }) => evidence),
      ),
    BATCH_LIMITS,
  );

  /**
   * Stores the evidence and releases slots that are proven clean, in one transaction with other evidence that
   * reached this process. If the batch fails, its items are retried one by one, so that only faulty evidence is
   * refused.
   */
  async record(services: Services, evidence: CleanUpEvidence): Promise<CleanUpOutcome> {
    const recorded = await this.#batcher.submit({ services, evidence }).catch((error: unknown) => {
      services.log.warn({ err: error }, 'a group of cleanups was not recorded; each is tried alone');
      publishEjection({ batch: BATCH_LIMITS.batch, reason: 'refused_by_database' });
      return 'alone' as const;
    });
    return recorded === 'alone' ? await recordAlone(services, evidence) : recorded;
  }
}

export interface CleanupServices extends Services {
  cleanupRecorder: CleanupRecorder;
}

async function recordAlone(services: Services, evidence: CleanUpEvidence): Promise<CleanUpOutcome> {
  const [recorded] = await recordTogether(services, [evidence]);
  if (recorded === undefined || recorded === 'alone') throw new Error('the evidence was not recorded');
  return recorded;
}

async function recordTogether(
  services: Services,
  group: readonly CleanUpEvidence[],
): Promise<(CleanUpOutcome | 'alone')[]> {
  const ids = group.map(({ allocationId }) => allocationId);
  return await services.db.transaction().execute(async (tx) => {
    const allocations = await lockAllocations(tx, ids);
    const isAlone = (id: string): boolean =>
      group.length > 1 && shapeOf(get(allocations, id, 'allocation')).isRecordedAlone;
    // Evidence of a finished wipe counts, regardless of the workflow that requested it.
    const brought = group.flatMap(({ allocationId, result }) =>
      result && !isAlone(allocationId)
        ? { allocation: get(allocations, allocationId, 'allocation'), result }
        : [],
    );
    for (const [shape, evidence] of Map.groupBy(brought, ({ allocation }) => shapeOf(allocation)))
      await shape.recordCleanups(services, tx, evidence);
    const live = await liveClaimsByAllocation(tx, ids);
    return group.map(({ allocationId, workflowId }) => {
      if (isAlone(allocationId)) return 'alone';
      if (!live.has(allocationId)) return 'clean';
      return isExecutedBy(get(allocations, allocationId, 'allocation'), workflowId) ? 'held' : 'withdrawn';
    });
  });
}
