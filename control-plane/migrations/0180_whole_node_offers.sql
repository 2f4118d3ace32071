-- A host is sold as a whole by what it is: each of its GPUs is a unit of the offer that an operator approved from the host's
-- inventory. Such a unit names no fabric function, disk or address: these belong to the host.

alter table node_resource_slots drop constraint node_resource_slots_node_id_fabric_vf_pci_address_key;
alter table node_resource_slots drop constraint node_resource_slots_node_id_management_mac_key;
alter table node_resource_slots drop constraint node_resource_slots_node_id_nvme_serial_key;
alter table node_resource_slots drop constraint node_resource_slots_node_id_private_ip_key;
create unique index node_resource_slots_fabric_vf on node_resource_slots (node_id, fabric_vf_pci_address)
  where fabric_vf_pci_address <> '';
create unique index node_resource_slots_mac on node_resource_slots (node_id, management_mac) where management_mac <> '';
create unique index node_resource_slots_nvme on node_resource_slots (node_id, nvme_serial) where nvme_serial <> '';
create unique index node_resource_slots_ip on node_resource_slots (node_id, private_ip) where private_ip <> '';

alter table node_resource_slots drop constraint sellable_slot_is_complete;
alter table node_resource_slots add constraint sellable_slot_is_complete check (state = 'disabled' or (gpu_pci_address <> '' and (
  coalesce(capacity_metadata ->> 'fabric_claim_mode', '') = 'whole_node'
  or (nvme_serial <> '' and nvme_device <> '' and management_mac <> '' and private_ip <> '' and fabric_vf_pci_address <> ''
    and coalesce(capacity_metadata ->> 'fabric_claim_mode', '') = 'per_slot_vf'
    and coalesce(capacity_metadata ->> 'destructive_wipe_policy', '') <> ''))));
