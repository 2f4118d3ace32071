import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { present } from '../../../platform/present.ts';

const BATCH = 100;

/** Warns tenants of leases that end soon, once for each end. */
export const warnBeforeLeaseEnd: Tick<Services> = {
  name: 'allocations.warn_of_ends',
  everySeconds: 15,
  catchUp: 'skip',
  run: async (services) => {
    while ((await warnSome(services)) === BATCH);
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
      .limit(BATCH)
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
        // An entry of a finished stage; it starts nothing.
        status: 'done',
        message: `Ends and is wiped at ${present(row.ends_at, 'end').toISOString()}. Extend it or save your work`,
      });
    }
    return ending.length;
  });
}
