-- plan: by index
-- Final check of node promises, as the cells are for double sale. Runs as the owner, because it reads the
-- promises of all tenants.
create or replace function respect_promises() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from changed c
      join node_promises p on p.node_id = c.node_id
      join allocations a on a.id = c.allocation_id
    where c.released_at is null
      and not respects_promise(p.holder_id, p.starts_at, p.ends_at, array[a.id, a.project_id], now(), c.ends_at)
  ) then
    raise exception 'the node is promised to somebody else' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
