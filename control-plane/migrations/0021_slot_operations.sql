-- Slots can be wanted out of sale while they are sold, have device faults apart from cleanup, and disks have owners.

alter table node_resource_slots
  add desired_state text not null default 'for_sale' check (desired_state in ('for_sale', 'disabled', 'retired')),
  add device_fault text,
  add constraint retired_slot_is_not_sold check (desired_state <> 'retired' or state = 'disabled');

create table node_disks (
  node_id uuid not null references nodes,
  serial text not null,
  ownership text check (ownership in ('host', 'share', 'baremetal', 'slice')),
  conversion_started_at timestamptz,
  conversion_started_by uuid,
  conversion_note text,
  -- The discovery that showed the disk free, and the proof for what was left on it.
  evidence_task_id uuid references node_tasks,
  wipe_proof text,
  primary key (node_id, serial),
  check ((conversion_started_at is null) = (conversion_started_by is null)),
  check (conversion_started_at is null or ownership is distinct from 'slice')
);

grant update (desired_state, gpu_model, gpu_pci_address, fabric_vf_pci_address, nvme_serial, nvme_device,
  management_mac, private_ip, ovs_port, numa_node, pcie_root, vcpu, memory_gib, capacity_metadata, approved_at,
  device_fault) on node_resource_slots to gpuaas_operator;
grant update (device_fault) on node_resource_slots to gpuaas_worker;
grant select, insert, update on node_disks to gpuaas_operator;

-- The newest answer of a kind from each host.
create index node_tasks_latest on node_tasks (node_id, kind, created_at desc) where state = 'succeeded';
