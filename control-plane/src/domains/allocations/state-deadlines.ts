import type { Db } from '../../platform/db/database.ts';
import type { AllocationState } from './states.ts';

/** How long an allocation may be in a state that only a workflow can leave. Past it somebody must look. */
export const stateDeadlineSeconds = {
  reserved: 300,
  provisioning: 1200,
  releasing: 3600,
} as const satisfies Partial<Record<AllocationState, number>>;

export interface OverdueAllocation {
  allocationId: string;
  state: string;
  since: Date;
  deadlineSeconds: number;
}

export async function overdueAllocations(db: Db, now: Date, limit: number): Promise<OverdueAllocation[]> {
  const found = await Promise.all(
    Object.entries(stateDeadlineSeconds).map(async ([state, deadlineSeconds]) => {
      const rows = await db
        .selectFrom('allocations')
        .select(['id', 'state_changed_at'])
        .where('state', '=', state)
        .where('state_changed_at', '<', new Date(now.getTime() - deadlineSeconds * 1000))
        .orderBy('state_changed_at')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        allocationId: row.id,
        state,
        since: row.state_changed_at,
        deadlineSeconds,
      }));
    }),
  );
  return found.flat();
}
