import { entriesOf } from '@gpuaas/contracts/typed-keys';
import type { Db } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { AllocationState } from './states.ts';

/**
 * How long an allocation may be in a state that only a workflow can leave. After that an incident is opened.
 */
const stateDeadlines = {
  reserved: 'allocations.reserved_deadline_seconds',
  provisioning: 'allocations.provisioning_deadline_seconds',
  releasing: 'allocations.releasing_deadline_seconds',
} as const satisfies Partial<Record<AllocationState, string>>;

export interface OverdueAllocation {
  allocationId: string;
  state: string;
  since: Date;
  deadlineSeconds: number;
}

export async function overdueAllocations(
  { db, policies }: { db: Db; policies: Policies },
  now: Date,
  limit: number,
): Promise<OverdueAllocation[]> {
  const erasing = policies.get('allocations.wipe_attempts') * policies.get('fleet.maas_deadline_seconds');
  const found = await Promise.all(
    entriesOf(stateDeadlines).map(async ([state, key]) => {
      const deadlineSeconds = policies.get(key);
      const rows = await db
        .selectFrom('allocations')
        .select(['id', 'state_changed_at'])
        .where('state', '=', state)
        .where('state_changed_at', '<', new Date(now.getTime() - deadlineSeconds * 1000))
        // MAAS has its own time to erase a host.
        .where((e) =>
          e.or([
            e('root_granted_at', 'is', null),
            e('state_changed_at', '<', new Date(now.getTime() - (deadlineSeconds + erasing) * 1000)),
          ]),
        )
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
