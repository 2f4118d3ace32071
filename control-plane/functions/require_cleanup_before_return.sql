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
