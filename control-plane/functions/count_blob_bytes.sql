create or replace function count_blob_bytes() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  counted blob_holders := case when tg_op = 'INSERT' then new else old end;
  size bigint;
begin
  if counted.organization_id is null then
    return null;
  end if;
  select b.bytes into size from blobs b where b.digest = counted.digest;
  if tg_op = 'INSERT' then
    insert into blob_usage as u (organization_id, bytes) values (counted.organization_id, size)
      on conflict (organization_id) do update set bytes = u.bytes + excluded.bytes;
  else
    update blob_usage set bytes = bytes - size where organization_id = counted.organization_id;
  end if;
  return null;
end $$;
revoke execute on function count_blob_bytes() from public;
create or replace trigger count_blob_bytes after insert or delete on blob_holders
  for each row execute function count_blob_bytes();
