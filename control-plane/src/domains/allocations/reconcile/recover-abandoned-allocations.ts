import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { workflowAbandonedSql } from '../../../platform/workflows/workflow-activity.ts';
import { cancelTasks } from '../../tasks/cancel-tasks.ts';
import { failLaunchInTransaction } from '../launch/fail-launch.ts';
import { provisionWorkflowId } from '../launch/provision.workflow.ts';
import { lockAllocation } from '../transition-allocation.ts';
import { beginRelease } from '../release/request-release.ts';
import { restartCleanup } from '../cleanup/retry-cleanup.ts';

const BATCH = 20;
const SETTLED_MS = 60_000;

/**
 * Recovers an allocation in transition whose workflow ended, gave up or never started; otherwise it would
 * stay there indefinitely. A launch fails and is cleaned up; a release, including one that has not taken its
 * machine yet, or a cleanup is restarted.
 */
export async function recoverAbandonedAllocations(services: Services, tx: Tx): Promise<number> {
  const before = new Date(services.clock.now().getTime() - SETTLED_MS);
  const abandoned = (idPrefix: RawBuilder<string>) => workflowAbandonedSql(idPrefix, before);
  const { rows } = await sql<{ id: string; state: string }>`
    select id, state from allocations
    where state_changed_at < ${before}
      and ((state in ('reserved', 'provisioning') and ${abandoned(sql`'provision:' || id`)})
        or ((state = 'releasing' or (state = 'active' and desired_state = 'released'))
          and ${abandoned(sql`'release:' || id || ':' || release_attempts`)})
        or (state in ('failed', 'released') and execution_state = 'cleaning_up'
          and ${abandoned(sql`'provision:' || id`)} and ${abandoned(sql`'cleanup:' || id`)}))
    order by id limit ${BATCH}`.execute(tx);
  for (const { id, state } of rows) {
    const row = await lockAllocation(tx, id);
    if (row.state !== state) continue;
    // Taken up late, they would reach slots that the new work has given back and somebody else has bought since.
    await cancelTasks(
      services,
      tx,
      { subject: { type: 'allocation', id } },
      'The work that gave the task was given up.',
    );
    if (state === 'releasing' || state === 'active')
      await beginRelease(services, tx, row, 'The release begins again');
    else if (state === 'failed' || state === 'released') {
      // An operator's confirmation ended with the workflow that had it.
      const cause = state === 'failed' ? 'failed_launch' : 'operator';
      await restartCleanup(services, tx, row, row.correlation_id, cause);
    } else {
      const failure = { code: 'workflow_lost', detail: 'The platform lost track of the launch.' };
      if (await failLaunchInTransaction(tx, id, failure, provisionWorkflowId(id))) {
        await restartCleanup(services, tx, await lockAllocation(tx, id), row.correlation_id, 'failed_launch');
      }
    }
  }
  return rows.length;
}
