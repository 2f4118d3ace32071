-- A tenant that kept nodes unused may not keep such nodes again for a while.
alter table capacity_reservations
  -- When enough of its GPUs were last seen in use.
  add used_at timestamptz,
  add cancelled_by_operator boolean not null default false;
update capacity_reservations set used_at = coalesce(cancelled_at, ends_at) where starts_at <= now();
grant update (used_at) on capacity_reservations to gpuaas_worker;
grant update (cancelled_by_operator) on capacity_reservations to gpuaas_operator;
