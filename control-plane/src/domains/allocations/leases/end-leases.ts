import { recordAudit } from '../../../platform/audit/record.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { beginRelease } from '../release/request-release.ts';
import { releasable } from '../states.ts';

const BATCH = 50;

/**
 * Releases leases whose end time has come. Leases that cannot be released in their current state are retried.
 */
export const endLeases: Tick<Services> = {
  name: 'allocations.end_leases',
  everySeconds: 10,
  catchUp: 'skip',
  run: async (services) => {
    while ((await endDue(services)) === BATCH);
  },
};

/** One transaction of them, so that a large number neither waits for the last nor fails with it. */
async function endDue(services: Services): Promise<number> {
  return await services.db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom('allocations')
      .selectAll()
      .where('ends_at', '<=', services.clock.now())
      .where('desired_state', '=', 'active')
      .where('state', 'in', [...releasable])
      .orderBy('ends_at')
      .orderBy('id')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of due) {
      await beginRelease(services, tx, row, 'The lease has reached its end time', 'agreed_end');
      await recordAudit(tx, {
        actorUserId: null,
        actorRole: 'platform',
        action: 'allocation.end_lease',
        targetType: 'allocation',
        targetId: row.id,
        result: 'succeeded',
        correlationId: row.correlation_id,
        organizationId: row.organization_id,
        detail: { ends_at: row.ends_at },
      });
    }
    return due.length;
  });
}
