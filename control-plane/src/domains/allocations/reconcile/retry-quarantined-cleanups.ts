import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import { isCleaning } from '../cleanup/find-blocked-slot.ts';
import { restartCleanup } from '../cleanup/retry-cleanup.ts';

const BATCH = 20;

/** Retries the cleanup of quarantined slots on a host that answers. */
export async function retryQuarantinedCleanups(services: Services, tx: Tx): Promise<number> {
  const restSeconds = services.policies.get('allocations.cleanup_again_after_seconds');
  const restedSince = new Date(services.clock.now().getTime() - restSeconds * 1000);
  const rows = await tx
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .selectAll('a')
    .select('n.last_heartbeat_at')
    .where('a.state', 'in', ['released', 'failed', 'release_failed'])
    .where('a.state_changed_at', '<', restedSince)
    .where(
      sql<boolean>`exists (select from allocation_resource_claims c
        where c.allocation_id = a.id and c.released_at is null)`,
    )
    .where(
      sql<boolean>`not exists (select from node_tasks t where t.subject_type = 'allocation' and t.subject_id = a.id
        and (t.finished_at is null or t.finished_at > ${restedSince}))`,
    )
    .orderBy('a.state_changed_at')
    .limit(BATCH)
    .forUpdate('a')
    .skipLocked()
    .execute();
  const due = rows.filter((row) => isConnected(services, row.last_heartbeat_at) && !isCleaning(row));
  for (const row of due) await restartCleanup(services, tx, row, newId());
  return due.length;
}
