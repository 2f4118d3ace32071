import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { emitAllocation } from './allocation-events.ts';

const AT_ONCE = 100;

/** Tells tenants of leases that end soon, once for each end. */
export const warnOfEnds: Tick<Services> = {
  name: 'allocations.warn_of_ends',
  everySeconds: 15,
  catchUp: 'skip',
  run: async (services) => {
    while ((await warnSome(services)) === AT_ONCE);
  },
};

async function warnSome({ db, clock, policies }: Services): Promise<number> {
  const now = clock.now();
  const soon = new Date(now.getTime() + policies.get('allocations.end_warning_seconds') * 1000);
  return await db.transaction().execute(async (tx) => {
    const ending = await tx
      .selectFrom('allocations')
      .selectAll()
      .where('desired_state', '=', 'active')
      .where('state', '=', 'active')
      .where('ends_at', '<=', soon)
      .where('ends_at', '>', now)
      .where((e) => e.or([e('end_warned_for', 'is', null), e('end_warned_for', '<', e.ref('ends_at'))]))
      .orderBy('ends_at')
      .orderBy('id')
      .limit(AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of ending) {
      await tx
        .updateTable('allocations')
        .set({ end_warned_for: row.ends_at })
        .where('id', '=', row.id)
        .execute();
      await emitAllocation(tx, 'allocation.ending', row, {
        stage: 'active',
        // Being up is over and done with; this is news of it, and begins nothing anew.
        status: 'done',
        message: `Ends at ${row.ends_at!.toISOString()} and is wiped then; extend it, or save your work`,
      });
    }
    return ending.length;
  });
}
