create or replace function rebase_audit_log() returns void language plpgsql as $$
begin
  update audit_clock set base = greatest(base, coalesce((select max(xid) from audit_logs), 0),
    coalesce((select max(upto_xid) from audit_segments), 0));
end $$;
