-- Every row below this position is committed or never will be, and none can be added.
create or replace function audit_horizon() returns bigint language sql stable
  security definer set search_path = pg_catalog, public, pg_temp
  return (select base from audit_clock) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
