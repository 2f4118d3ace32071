-- A project that is being closed takes no new rows: the closing transaction holds its row, and this blocks
-- until it ends.
create or replace function require_live_project() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from projects where id = new.project_id and deleted_at is null for key share;
  if not found then
    raise exception 'project % is closed', new.project_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end $$;
