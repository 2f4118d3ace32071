-- The proof that a device is clean follows the device: by its serial, to any slot of any host.

alter table node_resource_slots add gpu_serial text;
grant update (gpu_serial) on node_resource_slots to gpuaas_operator;
create index node_resource_slots_disk on node_resource_slots (nvme_serial);
create index node_resource_slots_gpu on node_resource_slots (gpu_serial) where gpu_serial is not null;
create index wipe_certificates_device on wipe_certificates (device_serial, recorded_at desc, id desc);

-- Devices whose last lease ended without proof, because their slot was given up. A certificate makes them clean.
create table unproven_devices (
  kind text not null check (kind in ('disk', 'gpu')),
  serial text not null,
  slot_id uuid not null references node_resource_slots,
  allocation_id uuid not null references allocations,
  slot_index smallint not null,
  since timestamptz not null,
  certificate_id uuid references wipe_certificates,
  primary key (kind, serial)
);
create index unproven_devices_slot on unproven_devices (slot_id);
create index unproven_devices_allocation on unproven_devices (allocation_id);
create index unproven_devices_certificate on unproven_devices (certificate_id);
alter table unproven_devices enable row level security;
create policy every on unproven_devices to gpuaas_operator, gpuaas_worker using (true);
grant select on unproven_devices to gpuaas_operator;
grant select, insert, update on unproven_devices to gpuaas_worker;

insert into unproven_devices (kind, serial, slot_id, allocation_id, slot_index, since)
select distinct on (c.snapshot->>'nvme_serial')
    'disk', c.snapshot->>'nvme_serial', c.slot_id, c.allocation_id, s.slot_index, c.released_at
  from allocation_resource_claims c join node_resource_slots s on s.id = c.slot_id
  where c.released_at is not null and c.snapshot->>'nvme_serial' is not null
    and not exists (select from wipe_certificates w
      where w.device_serial = c.snapshot->>'nvme_serial' and w.recorded_at >= c.created_at and w.verified)
  order by c.snapshot->>'nvme_serial', c.created_at desc;

