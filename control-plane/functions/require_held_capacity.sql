-- No app bypasses the allocation: a member starts only on an allocation of the same project that is active, is not on its
-- way out, and still holds its claims.
create or replace function require_held_capacity() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from app_instances i
    join allocations a on a.id = new.allocation_id and a.organization_id = i.organization_id and a.project_id = i.project_id
    where i.id = new.instance_id and i.allocation_id = new.allocation_id
      and a.state = 'active' and a.desired_state = 'active'
      and a.capacity_shape = i.bound_capacity_shape
      and exists (select from allocation_resource_claims c where c.allocation_id = a.id and c.released_at is null);
  if not found then
    raise exception 'member % has no capacity to start on', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
revoke execute on function require_held_capacity() from public;
create or replace trigger require_held_capacity before update of status on app_instance_members
  for each row when (old.status = 'created' and new.status = 'starting') execute function require_held_capacity();
create or replace trigger members_begin_created before insert on app_instance_members
  for each row when (new.status <> 'created') execute function require_held_capacity();
