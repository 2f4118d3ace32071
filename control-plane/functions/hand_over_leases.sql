-- Leases of a service account follow it to its next owner.
create or replace function hand_over_leases() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update allocations set owner_user_id = new.owner_user_id
    where created_by = new.id and organization_id = new.organization_id and state not in ('released', 'failed');
  return null;
end $$;
create or replace trigger service_accounts_hand_over_leases after update of owner_user_id on service_accounts for each row
  when (old.owner_user_id is distinct from new.owner_user_id) execute function hand_over_leases();
