-- A tenant with root can leave anything behind on a host, so what such a host says of itself proves nothing: its claim
-- ends when MAAS has erased it, or when a person vouches for it.

-- Set in the transaction that asks the host for it, and never taken back.
alter table allocations add root_granted_at timestamptz;

alter table host_cleanups
  add maas_system_id text,
  drop constraint cleanup_has_one_source,
  add constraint cleanup_has_one_source check (num_nonnulls(node_task_id, witnessed_by, maas_system_id) = 1);
create unique index host_cleanups_erasure on host_cleanups (allocation_id) where maas_system_id is not null;

create or replace function require_cleanup_before_return() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (
    select 1 from host_cleanups h join allocations a on a.id = h.allocation_id
    where h.allocation_id = new.allocation_id and h.verified
      and (a.root_granted_at is null or h.node_task_id is null)
  ) then
    raise exception 'host % has no verified cleanup for allocation %', new.node_id, new.allocation_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- The worker takes an identity away before the erasure, and has MAAS install the host anew after it.
grant update (identity_revoked_at) on nodes to gpuaas_worker;
grant insert on node_onboardings, node_onboarding_steps to gpuaas_worker;
