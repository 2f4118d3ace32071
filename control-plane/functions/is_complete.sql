-- Whether a slot names everything that a sold machine needs, as in domains/placement/slot-rules.ts.
create or replace function is_complete(slot node_resource_slots) returns boolean language sql immutable
  return (slot).gpu_pci_address ~ '[!-~]' and ((slot).capacity_metadata ->> 'fabric_claim_mode' = 'whole_node'
    or (slot).fabric_vf_pci_address ~ '[!-~]'
    and (slot).nvme_serial ~ '[!-~]' and (slot).nvme_device ~ '[!-~]' and (slot).management_mac ~ '[!-~]'
    and (slot).private_ip ~ '[!-~]' and (slot).capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
    and (slot).capacity_metadata ->> 'destructive_wipe_policy' ~ '[!-~]');
