import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

/** A host as if it had been enrolled and its slots approved: connected, and with nothing against it. */
export async function addHost(db: Db, slots = 8): Promise<{ nodeId: string; slotIds: string[] }> {
  const nodeId = newId();
  const slotIds = Array.from({ length: slots }, newId);
  await sql`insert into nodes (id, hostname, region, pool, rack, node_family, mode, last_heartbeat_at)
    values (${nodeId}, ${`host-${nodeId}`}, 'uae-north-1', 'p', 'r', 'hgx-h200', 'slice', now() + interval '1 day')`.execute(
    db,
  );
  await sql`insert into node_resource_slots (id, node_id, slot_index, state, gpu_model, gpu_pci_address,
      fabric_vf_pci_address, nvme_serial, nvme_device, management_mac, private_ip, ovs_port, numa_node, pcie_root,
      vcpu, memory_gib, capacity_metadata)
    select id, ${nodeId}, place - 1, 'available', 'H200-SXM-141GB', 'gpu' || place, 'vf' || place, 'serial-' || ${nodeId}::text || '-' || place,
      '/dev/nvme' || place, 'mac' || place, 'ip' || place, 'port' || place, (place - 1) / 4, 'root' || (place - 1) / 2,
      24, 64, '{"fabric_claim_mode": "per_slot_vf", "destructive_wipe_policy": "blkdiscard"}'
    from unnest(${slotIds}::uuid[]) with ordinality as slot (id, place)`.execute(db);
  return { nodeId, slotIds };
}

/** Slots held by more than one claim, or whose state and claim disagree: always none. */
export async function claimDefects(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select s.id, s.state, count(c.id) as claims
    from node_resource_slots s
      left join allocation_resource_claims c on c.slot_id = s.id and c.released_at is null
    group by s.id, s.state
    having count(c.id) > 1 or (s.state = 'available') <> (count(c.id) = 0)`.execute(db);
  return rows;
}
