import { sql } from 'kysely';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import type { Db } from '@gpuaas/control-plane/platform/db/database';

/** Everything that must be consistent; each query lists violations. */
const defects = {
  'slots held twice, or whose state and claims disagree': sql`
    select s.id from node_resource_slots s
      left join allocation_resource_claims c
        on c.node_id = s.node_id and c.released_at is null and (c.slot_id = s.id or c.slot_id is null)
    group by s.id having count(c.id) > 1 or (s.state = 'available') <> (count(c.id) = 0)`,
  'cells without a live claim, or live claims without their cells': sql`
    select coalesce(e.node_id, c.node_id) from claim_cells e full join (
      select c.node_id, cell, c.id from allocation_resource_claims c
        left join node_resource_slots s on s.id = c.slot_id
        cross join lateral (select s.slot_index as cell where c.slot_id is not null
          union all select generate_series(0, 15) where c.slot_id is null) as cells
      where c.released_at is null
    ) as c on c.id = e.claim_id and c.cell = e.cell
    where e.claim_id is null or c.id is null`,
  'allocations that hold another number of slots than were sold': sql`
    select a.id from allocations a left join allocation_resource_claims c on c.allocation_id = a.id
    group by a.id having sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) is distinct from a.gpu_count`,
  'allocations without their one event, workflow and audit row': sql`
    select a.id from allocations a where
      (select count(*) from outbox_events e where e.subject_id = a.id and e.event_type = 'allocation.reserved') <> 1
      or (select count(*) from workflow_starts w where w.workflow_id = 'provision:' || a.id) <> 1
      or (select count(*) from audit_logs l where l.target_type = 'allocation' and l.target_id = a.id::text
        and l.action = 'allocation.create') <> 1
    limit 10`,
};

export async function findDefects(db: Db): Promise<string[]> {
  const found: string[] = [];
  for (const [name, query] of Object.entries(defects)) {
    const { rows } = await query.execute(db);
    if (rows.length > 0) found.push(`${rows.length} ${name}`);
  }
  const drift = await verifyQuotas(db, 10);
  if (drift.length > 0) found.push(`${drift.length} quota counters that differ from live claims`);
  return found;
}
