import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isAbandoned } from '../../../platform/workflows/under-way.ts';
import { withdrawTasks } from '../../fleet/withdraw-tasks.ts';
import { failLaunchIn } from '../fail-launch.ts';
import { lockAllocation } from '../move-allocation.ts';
import { recordRelease } from '../request-release.ts';
import { cleanAgain } from '../retry-cleanup.ts';

const AT_ONCE = 20;
const SETTLED_MS = 60_000;

/**
 * An allocation on its way whose workflow has ended, given up or never begun would stay there for ever. A launch
 * fails and is cleaned up; a release, also one that has not taken its machine yet, or a cleanup begins again.
 */
export async function restartAbandoned(services: Services, tx: Tx): Promise<number> {
  const before = new Date(services.clock.now().getTime() - SETTLED_MS);
  const abandoned = (idPrefix: RawBuilder<string>) => isAbandoned(idPrefix, before);
  const { rows } = await sql<{ id: string; state: string }>`
    select id, state from allocations
    where state_changed_at < ${before}
      and ((state in ('reserved', 'provisioning') and ${abandoned(sql`'provision:' || id`)})
        or ((state = 'releasing' or (state = 'active' and desired_state = 'released'))
          and ${abandoned(sql`'release:' || id || ':' || release_attempts`)})
        or (state in ('failed', 'released') and execution_state = 'cleaning up'
          and ${abandoned(sql`'provision:' || id`)} and ${abandoned(sql`'cleanup:' || id`)}))
    order by id limit ${AT_ONCE}`.execute(tx);
  for (const { id, state } of rows) {
    const row = await lockAllocation(tx, id);
    if (row.state !== state) continue;
    // Taken up late, they would reach slots that the new work has given back and somebody else has bought since.
    await withdrawTasks(services, tx, { allocationId: id }, 'The work that gave the task was given up.');
    if (state === 'releasing' || state === 'active')
      await recordRelease(services, tx, row, 'The release begins again');
    else if (state === 'failed' || state === 'released') {
      await cleanAgain(services, tx, row, row.correlation_id);
    } else {
      const failure = { code: 'workflow_lost', detail: 'The platform lost track of the launch.' };
      if (await failLaunchIn(tx, id, failure)) {
        await cleanAgain(services, tx, await lockAllocation(tx, id), row.correlation_id);
      }
    }
  }
  return rows.length;
}
