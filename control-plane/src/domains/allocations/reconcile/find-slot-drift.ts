import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { IncidentCondition } from '../../incidents/sync-incidents.ts';

const LIMIT = 100;

/** Slots whose state contradicts their claims. Read in one snapshot, so that no change is seen half-way. */
export async function findSlotDrift(tx: Tx): Promise<IncidentCondition[]> {
  const { rows } = await sql<{
    id: string;
    node_id: string;
    slot_index: number;
    state: string;
    allocation_id: string | null;
  }>`
    select s.id, s.node_id, s.slot_index, s.state, c.allocation_id
    from node_resource_slots s
    left join claim_cells e on e.node_id = s.node_id and e.cell = s.slot_index
    left join allocation_resource_claims c on c.id = e.claim_id
    where (s.state in ('reserved', 'in_use', 'cleaning', 'cleanup_blocked') and c.id is null)
      or (s.state = 'available' and c.claim_kind = 'slot')
    order by s.id limit ${LIMIT}`.execute(tx);
  return rows.map((row) => ({
    targetType: 'slot',
    targetId: row.id,
    summary: row.allocation_id
      ? `Slot ${row.slot_index} is ${row.state}, and an allocation claims it.`
      : `Slot ${row.slot_index} is ${row.state}, and nothing claims it.`,
    detail: { node_id: row.node_id, state: row.state, allocation_id: row.allocation_id },
  }));
}
