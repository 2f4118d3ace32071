-- The facts of a slot that its host needs are assembled when the slot changes, not at every sale.
create or replace function slot_bundle(id uuid, slot_index smallint, gpu_pci_address text, fabric_vf_pci_address text,
    nvme_serial text, nvme_device text, management_mac text, private_ip text, ovs_port text, numa_node smallint)
  returns jsonb language sql immutable
  return jsonb_build_object('slot_id', id, 'slot_index', slot_index, 'gpu_pci_address', gpu_pci_address,
    'fabric_vf_pci_address', fabric_vf_pci_address, 'nvme_serial', nvme_serial, 'nvme_device', nvme_device,
    'management_mac', management_mac, 'private_ip', private_ip, 'ovs_port', ovs_port, 'numa_node', numa_node);
