-- What a tenant wants its machine to do when it first boots, sealed with the platform key. It may hold passwords and
-- tokens, so it is kept only while the machine is on its way.
create table allocation_user_data (
  allocation_id uuid primary key references allocations,
  sealed bytea not null
);

grant insert on allocation_user_data to gpuaas_placement;
grant select on allocation_user_data to gpuaas_node;

alter table allocation_user_data enable row level security;
create policy every on allocation_user_data for insert to gpuaas_placement with check (true);
create policy on_it on allocation_user_data for select to gpuaas_node
  using (exists (select from allocations a where a.id = allocation_id and a.node_id = (select scope_node())));

create function forget_user_data() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from allocation_user_data where allocation_id = new.id;
  return null;
end $$;
revoke execute on function forget_user_data() from public;
create trigger forget_user_data after update of state on allocations for each row
  when (old.state in ('queued', 'reserved', 'provisioning') and new.state not in ('queued', 'reserved', 'provisioning'))
  execute function forget_user_data();
