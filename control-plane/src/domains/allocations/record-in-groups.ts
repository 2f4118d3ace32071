import { GroupCommit, tellLeft } from '../../platform/group-commit.ts';
import type { Services } from '../../platform/services.ts';
import type { TaskOutcome } from '../fleet/complete-task.ts';
import { liveClaimsOf } from './claims.ts';
import { recordHostCleanup } from './clean-host.ts';
import { isBaremetal, lockAllocations } from './move-allocation.ts';
import { recordWipes } from './wipe-slots.ts';

/** What a host brought back when it was asked to clean up; null when nobody wanted that any more. */
export interface CleanUpEvidence {
  allocationId: string;
  /** What the workflow that asked wrote when it began; whatever else stands there now is somebody else's doing. */
  executionState: string;
  result: (TaskOutcome & { taskId: string }) | null;
}

/** `held`: something is not proven clean. `withdrawn`: and an operator has ended the allocation meanwhile. */
export type Recorded = 'clean' | 'held' | 'withdrawn';

/** One at a time: the chain of certificates lets nobody else in anyway, so the next group gathers meanwhile. */
const GROUPS = { desk: 'cleanups', size: 32, underWay: 1 };

type Desk = GroupCommit<CleanUpEvidence, Recorded | 'alone'>;

const desks = new WeakMap<Services, Desk>();

function deskOf(services: Services): Desk {
  const known = desks.get(services) ?? new GroupCommit((group) => recordTogether(services, group), GROUPS);
  desks.set(services, known);
  return known;
}

/**
 * Keeps the evidence and gives back what is proven clean, in one transaction with whatever else came back to this
 * process. What fails together is tried one by one, so that only the evidence that is to blame is refused.
 */
export async function recordCleanUp(services: Services, evidence: CleanUpEvidence): Promise<Recorded> {
  const recorded = await deskOf(services)
    .submit(evidence)
    .catch((error: unknown) => {
      services.log.warn({ err: error }, 'a group of cleanups was not recorded; each is tried alone');
      tellLeft({ desk: GROUPS.desk, reason: 'refused_by_database' });
      return 'alone' as const;
    });
  return recorded === 'alone' ? await recordAlone(services, evidence) : recorded;
}

async function recordAlone(services: Services, evidence: CleanUpEvidence): Promise<Recorded> {
  const [recorded] = await recordTogether(services, [evidence]);
  if (recorded === undefined || recorded === 'alone') throw new Error('evidence was left to nobody');
  return recorded;
}

/**
 * A whole host is given back alone: quota counters are locked in one order by the statement that ends claims, and hosts
 * and slots are two statements.
 */
async function recordTogether(
  services: Services,
  group: readonly CleanUpEvidence[],
): Promise<(Recorded | 'alone')[]> {
  const ids = group.map(({ allocationId }) => allocationId);
  return await services.db.transaction().execute(async (tx) => {
    const allocations = await lockAllocations(tx, ids);
    const isAlone = (id: string): boolean => group.length > 1 && isBaremetal(allocations.get(id)!);
    // Evidence of a wipe that was done stands, whoever asked for it.
    const brought = group.flatMap(({ allocationId, result }) =>
      result && !isAlone(allocationId) ? { allocation: allocations.get(allocationId)!, result } : [],
    );
    for (const { allocation, result } of brought) {
      if (isBaremetal(allocation)) await recordHostCleanup(services, tx, allocation, result);
    }
    const slices = brought.filter(({ allocation }) => !isBaremetal(allocation));
    await recordWipes(services, tx, slices);
    const live = await liveClaimsOf(tx, ids);
    return group.map(({ allocationId, executionState }) => {
      if (isAlone(allocationId)) return 'alone';
      if (!live.has(allocationId)) return 'clean';
      return allocations.get(allocationId)!.execution_state === executionState ? 'held' : 'withdrawn';
    });
  });
}
