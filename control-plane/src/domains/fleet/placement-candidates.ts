import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { CandidateNode } from '../placement/place-slice.ts';

/**
 * Every node with the slots that may be sold now. Incomplete rows are ignored here once more, so that a row
 * written past the approval cannot be sold.
 */
export async function placementCandidates(policies: Policies, db: Db | Tx): Promise<CandidateNode[]> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const { rows } = await sql<CandidateNode>`
    select n.id as "nodeId", n.hostname, n.region, n.mode,
      n.draining or exists (select from node_cordons c where c.node_id = n.id) as draining,
      coalesce(n.last_heartbeat_at > now() - make_interval(secs => ${silence}), false) as connected,
      coalesce(min(s.gpu_model), '') as "gpuModel",
      coalesce(
        json_agg(json_build_object(
          'slotId', s.id, 'slotIndex', s.slot_index, 'numaNode', s.numa_node, 'pcieRoot', s.pcie_root
        ) order by s.slot_index) filter (
          where s.state = 'available' and s.health_state <> 'unhealthy'
            and s.gpu_pci_address <> '' and s.nvme_serial <> '' and s.management_mac <> '' and s.private_ip <> ''
            and s.fabric_vf_pci_address <> ''
            and s.capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
            and s.capacity_metadata ->> 'destructive_wipe_policy' <> ''
        ), '[]'
      ) as "freeSlots"
    from nodes n left join node_resource_slots s on s.node_id = n.id
    group by n.id`.execute(db);
  return rows;
}

/** Locks the slots if all of them are still for sale; `wait` queues behind a rival instead of giving up. */
export async function lockFreeSlots(tx: Tx, slotIds: string[], wait: boolean): Promise<boolean> {
  const query = tx
    .selectFrom('node_resource_slots')
    .select('id')
    .where('id', 'in', slotIds)
    .where('state', '=', 'available')
    .orderBy('id')
    .forUpdate();
  const rows = await (wait ? query : query.skipLocked()).execute();
  return rows.length === slotIds.length;
}
