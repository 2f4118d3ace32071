-- plan: by index
create or replace function require_wipes_before_resale() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
  set enable_seqscan = off as $$
declare
  slot uuid;
  tenancy uuid;
  device text;
begin
  select s.id, last.allocation_id into slot, tenancy
    from changed s cross join lateral (
      select c.allocation_id from allocation_resource_claims c where c.slot_id = s.id
      order by c.created_at desc, c.id desc limit 1) as last
    where s.state = 'available' and not exists (
      select from wipe_certificates w
      where w.id = s.last_wipe_id and w.slot_id = s.id and w.allocation_id = last.allocation_id and w.verified)
    limit 1;
  if found then
    raise exception 'slot % has no verified wipe for allocation %', slot, tenancy using errcode = 'restrict_violation';
  end if;
  select s.id, u.serial into slot, device
    from changed s cross join lateral (
      select d.serial from unproven_devices d
        where d.kind = 'disk' and d.serial = upper(btrim(s.nvme_serial)) and d.certificate_id is null
      union all
      select d.serial from unproven_devices d
        where d.kind = 'gpu' and d.serial = upper(btrim(s.gpu_serial)) and d.certificate_id is null
      union all
      select newest.device_serial from (
        select w.device_serial, w.verified from wipe_certificates w
        where upper(btrim(w.device_serial)) = upper(btrim(s.nvme_serial))
        order by w.recorded_at desc, w.id desc limit 1) as newest
        where not newest.verified) as u
    where s.state = 'available'
    limit 1;
  if found then
    raise exception 'slot % has device %, which is not proven clean', slot, device using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
