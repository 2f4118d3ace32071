const [NODE, SLOT, ALLOCATION] = ['1', '2', '3'].map(
  (digit) => `00000000-0000-7000-8000-00000000000${digit}`,
);

/**
 * Rows of an older release: a host `sold` with one slot of one processor and one GiB, and the claim on it. Triggers and
 * references are off: the database of that release has none of the functions that its triggers call.
 */
export function soldSlot(snapshot: string): string {
  return `set session_replication_role = replica;
    insert into nodes (id, hostname, region, pool, rack, node_family, mode)
      select '${NODE}', 'sold', region, 'p', 'r', 'f', 'slice' from regions limit 1;
    insert into node_resource_slots (id, node_id, slot_index, state, gpu_model, gpu_pci_address,
        fabric_vf_pci_address, nvme_serial, nvme_device, management_mac, private_ip, ovs_port, numa_node, pcie_root,
        vcpu, memory_gib, capacity_metadata)
      values ('${SLOT}', '${NODE}', 0, 'in_use', 'm', 'g', 'v', 's', 'd', 'm', 'i', 'o', 0, 'p', 1, 1,
        '{"fabric_claim_mode": "per_slot_vf", "destructive_wipe_policy": "blkdiscard"}');
    insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, snapshot)
      values (gen_random_uuid(), '${ALLOCATION}', '${NODE}', 'slot', '${SLOT}', '${snapshot}');
    set session_replication_role = origin`;
}
