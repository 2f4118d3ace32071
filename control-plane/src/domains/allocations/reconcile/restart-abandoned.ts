import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { failLaunchIn } from '../fail-launch.ts';
import { lockAllocation } from '../move-allocation.ts';
import { recordRelease } from '../request-release.ts';
import { cleanAgain } from '../retry-cleanup.ts';

const AT_ONCE = 20;
const SETTLED = '60 seconds';

/**
 * An allocation on its way whose workflow has ended, given up or never begun would stay there for ever. A launch
 * fails and is cleaned up; a release begins again.
 */
export async function restartAbandoned(services: Services, tx: Tx): Promise<number> {
  const { rows } = await sql<{ id: string; state: string }>`
    with moving as (
      select id, state, case state when 'releasing' then 'release:' || id || ':' || release_attempts
        else 'provision:' || id end as workflow_id
      from allocations
      where state in ('reserved', 'provisioning', 'releasing')
        and state_changed_at < ${services.clock.now()}::timestamptz - ${SETTLED}::interval
    )
    select id, state from moving m
    where not exists (select from workflow_starts s where s.workflow_id = m.workflow_id)
      and not exists (select from dbos.workflow_status w where w.workflow_uuid = m.workflow_id
        and w.status in ('PENDING', 'ENQUEUED', 'DELAYED'))
    order by id limit ${AT_ONCE}`.execute(tx);
  for (const { id, state } of rows) {
    const row = await lockAllocation(tx, id);
    if (row.state !== state) continue;
    if (state === 'releasing') {
      await recordRelease(services, tx, row, 'The release begins again');
      continue;
    }
    const failure = { code: 'workflow_lost', detail: 'The platform lost track of the launch.' };
    if (await failLaunchIn(tx, id, failure)) {
      await cleanAgain(services, tx, await lockAllocation(tx, id), row.correlation_id);
    }
  }
  return rows.length;
}
