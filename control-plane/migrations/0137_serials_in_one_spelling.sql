-- Firmware and tools spell one serial in several ways; a device is the same whatever case or blanks it comes with.

-- Of two spellings the one that is not proven clean stays, else the newer one.
delete from unproven_devices u using unproven_devices o
  where u.kind = o.kind and upper(btrim(u.serial)) = upper(btrim(o.serial)) and u.serial <> o.serial
    and ((u.certificate_id is null)::int, u.since, u.serial) < ((o.certificate_id is null)::int, o.since, o.serial);
update unproven_devices set serial = upper(btrim(serial)) where serial <> upper(btrim(serial));
alter table unproven_devices add constraint unproven_devices_one_spelling check (serial = upper(btrim(serial)));

drop index wipe_certificates_device;
create index wipe_certificates_device on wipe_certificates (upper(btrim(device_serial)), recorded_at desc, id desc);
drop index node_resource_slots_disk;
create index node_resource_slots_disk on node_resource_slots (upper(btrim(nvme_serial)));
drop index node_resource_slots_gpu;
create index node_resource_slots_gpu on node_resource_slots (upper(btrim(gpu_serial))) where gpu_serial is not null;
