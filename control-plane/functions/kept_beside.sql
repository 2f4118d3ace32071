-- Reserved capacity that stays unused beside these launches. The rule of `keptBeside` in domains/billing/funds/covers.ts; a
-- test compares the two.
create or replace function kept_beside(kept json, launches json) returns bigint
  language sql immutable as $$
  select coalesce(sum(greatest(0, k."perHourMicros" - coalesce((
      select sum(l.micros) from json_to_recordset(launches) as l ("projectId" uuid, "nodeId" uuid, micros bigint)
      where l."projectId" = k."projectId" and (l."nodeId" is null or l."nodeId" = any (k."nodeIds"))), 0))), 0)::bigint
  from json_to_recordset(kept) as k ("projectId" uuid, "nodeIds" uuid[], "perHourMicros" bigint)
$$;
