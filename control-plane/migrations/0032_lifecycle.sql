-- Leases of whole hosts end with proof as slots do, and an allocation knows which run of its machine was delivered.

create table host_cleanups (
  id uuid primary key,
  allocation_id uuid not null references allocations,
  node_id uuid not null references nodes,
  node_task_id uuid references node_tasks unique,
  witnessed_by uuid,
  method text not null,
  verified boolean not null,
  verification text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  constraint cleanup_has_one_source check ((node_task_id is null) <> (witnessed_by is null))
);
create index host_cleanups_allocation on host_cleanups (allocation_id);
create trigger host_cleanups_append_only before update or delete or truncate on host_cleanups
  for each statement execute function forbid_change();

-- The claim on a host ends with a verified cleanup after its tenant, as a slot returns with a verified wipe.
create function require_cleanup_before_return() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select 1 from host_cleanups h where h.allocation_id = new.allocation_id and h.verified) then
    raise exception 'host % has no verified cleanup for allocation %', new.node_id, new.allocation_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger node_claims_need_cleanup before update on allocation_resource_claims
  for each row when (new.claim_kind = 'node_exclusive' and new.released_at is not null and old.released_at is null)
  execute function require_cleanup_before_return();

alter table host_cleanups enable row level security;
create policy own on host_cleanups for select to gpuaas_tenant
  using (exists (select from allocations a where a.id = allocation_id));
create policy every on host_cleanups to gpuaas_operator, gpuaas_worker using (true);
grant select on host_cleanups to gpuaas_tenant, gpuaas_operator, gpuaas_worker;
grant insert on host_cleanups to gpuaas_worker;

alter table allocations
  add machine_boot_id text,
  add machine_started_at timestamptz,
  -- Since when the host of a running machine has not answered; null while it does.
  add host_silent_since timestamptz;

-- A release takes the tokens of its allocation with it.
grant select (allocation_id) on terminal_tokens to gpuaas_worker;
create policy of_a_release on terminal_tokens for all to gpuaas_worker
  using (exists (select from allocations a where a.id = allocation_id and a.state = 'releasing'));
