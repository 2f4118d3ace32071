-- Every process keeps all values in memory and reads them again at this notification.
create or replace function tell_policies_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('gpuaas_policies', '');
  return null;
end $$;
