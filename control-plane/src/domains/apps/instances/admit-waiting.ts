import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { lockAllocation } from '../../allocations/transition-allocation.ts';
import { admitInstance } from './admit-instance.ts';

const BATCH = 200;

/** Asks the gates again for instances that wait, oldest first. */
export const admitWaiting: Tick<Services> = {
  name: 'apps.admit_waiting',
  everySeconds: 2,
  catchUp: 'skip',
  async run(services) {
    const { db, log } = services;
    const waiting = await db
      .selectFrom('app_instances')
      .select(['id', 'allocation_id'])
      .where('status', '=', 'created')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { id, allocation_id: allocationId } of waiting)
      try {
        await db.transaction().execute(async (tx) => {
          const allocation = await lockAllocation(tx, allocationId);
          await admitInstance(services, tx, id, allocation);
        });
      } catch (error) {
        log.warn({ err: error, app_instance_id: id }, 'the gates of an app instance could not be asked');
      }
  },
};
