create or replace function audit_position() returns bigint language sql stable
  security definer set search_path = pg_catalog, public, pg_temp
  return (select base from audit_clock) + pg_current_xact_id()::text::bigint;
