import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/reachability.ts';
import { isCleaning } from '../find-blocked-slot.ts';
import { cleanAgain } from '../retry-cleanup.ts';

const AT_ONCE = 20;

/** Starts the cleanup again of what rests in quarantine on a host that answers. Proof may be a retry away. */
export async function cleanRested(services: Services, tx: Tx): Promise<number> {
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
      sql<boolean>`not exists (select from node_tasks t where t.allocation_id = a.id
        and (t.finished_at is null or t.finished_at > ${restedSince}))`,
    )
    .orderBy('a.state_changed_at')
    .limit(AT_ONCE)
    .forUpdate('a')
    .skipLocked()
    .execute();
  const due = rows.filter((row) => isConnected(services, row.last_heartbeat_at) && !isCleaning(row));
  for (const row of due) await cleanAgain(services, tx, row, newId());
  return due.length;
}
