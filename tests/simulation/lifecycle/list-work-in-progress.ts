import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';

/** All unfinished work, as text. */
export async function listWorkInProgress(db: Db): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select state || ' ' || execution_state || ' ' || id as what from allocations a
    where state in ('reserved', 'provisioning', 'releasing', 'release_failed')
      or execution_state = 'cleaning_up'
      or (state = 'active' and desired_state = 'released')
      or (state in ('released', 'failed') and exists (select from allocation_resource_claims c
        where c.allocation_id = a.id and c.released_at is null))
    union all select 'conversion ' || id from node_conversions where state = 'running'
    union all select 'new key of ' || id from nodes where identity_rotation_since is not null
    union all select 'start ' || workflow_id from workflow_starts
    union all select 'workflow ' || workflow_uuid from dbos.workflow_status
      where status in ('PENDING', 'ENQUEUED', 'DELAYED')`.execute(db);
  return rows.map(({ what }) => what);
}
