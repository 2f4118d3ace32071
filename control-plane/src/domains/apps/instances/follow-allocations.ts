import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { findEnded, findProvenClean } from '../../allocations/capacity.ts';
import { proveTeardown } from './end-members.ts';
import { lockInstance } from './move-instance.ts';
import { requestStop } from './request-stop.ts';

const BATCH = 500;

/** Ends instances whose allocation has ended without them, and takes the wipe of a machine as proof of their teardown. */
export const followAllocations: Tick<Services> = {
  name: 'apps.follow_allocations',
  everySeconds: 5,
  catchUp: 'skip',
  async run(services) {
    await stopOnEnded(services);
    await proveByWipe(services);
  },
};

/** An operator may have ended the allocation without its host. */
async function stopOnEnded(services: Services): Promise<void> {
  const live = await services.db
    .selectFrom('app_instances')
    .select(['id', 'allocation_id'])
    .where('ended_at', 'is', null)
    .where('desired', '=', 'run')
    .orderBy('id')
    .execute();
  const ended = new Set(
    await services.db
      .transaction()
      .execute((tx) => findEnded(tx, [...new Set(live.map((one) => one.allocation_id))])),
  );
  for (const { id, allocation_id: allocationId } of live.filter((one) => ended.has(one.allocation_id)))
    await services.db.transaction().execute((tx) =>
      requestStop(services, tx, id, {
        reason: 'cancelled',
        message: `The allocation ${allocationId} has ended`,
      }),
    );
}

async function proveByWipe({ db, clock }: Services): Promise<void> {
  const open = await db
    .selectFrom('app_instance_members')
    .select(['id', 'instance_id', 'allocation_id'])
    .where('ended_at', 'is not', null)
    .where('teardown', 'is', null)
    .orderBy('id')
    .limit(BATCH)
    .execute();
  if (open.length === 0) return;
  await db.transaction().execute(async (tx) => {
    const clean = await findProvenClean(tx, [...new Set(open.map((one) => one.allocation_id))]);
    for (const { id, instance_id: instanceId, allocation_id: allocationId } of open) {
      const proof = clean.get(allocationId);
      if (!proof) continue;
      const instance = await lockInstance(tx, instanceId);
      await proveTeardown(tx, clock.now(), instance, id, {
        proof: 'wiped',
        certificate_ids: proof.certificateIds,
      });
    }
  });
}
