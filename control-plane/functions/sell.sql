-- Writes a batch of decided launches if everything that the decision used still holds; else it fails as a whole. No launch
-- waits longer than a moment for another.
-- The request is read once, into typed columns:
--   funds, quotas, hosts, slots, gpu_models, silence_seconds: what must still hold (hold_for_sale)
--   allocations, decided_at: rows of the allocations, and when they were decided by this database's clock
--   claims, claimants, claimed_slots: ids of the claims, their allocations, and their slots (null for a whole node)
--   events, workflow, workflow_starts, audits, replies: rows that are committed with them
create or replace function sell(request json) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '250ms' as $$
declare
  r record;
  tenants uuid[];
begin
  select * into r from json_to_record(request) as r (funds json, quotas json, hosts json, slots uuid[], gpu_models text[],
    silence_seconds integer, allocations json, decided_at timestamptz, claims uuid[], claimants uuid[],
    claimed_slots uuid[], events json, workflow text, workflow_starts json, audits json, replies json);
  -- An empty check would pass.
  if num_nulls(r.funds, r.quotas, r.hosts, r.slots, r.gpu_models, r.silence_seconds, r.allocations, r.decided_at, r.claims,
      r.claimants, r.claimed_slots, r.events, r.workflow, r.workflow_starts, r.audits, r.replies) > 0 then
    raise exception 'a part of the launches is missing' using errcode = 'null_value_not_allowed';
  end if;
  tenants := array(select distinct s.organization_id from json_to_recordset(r.allocations) as s (organization_id uuid));
  -- Runs as the owner, but writes only for the tenants of its launches.
  if cardinality(tenants) = 0
    or exists (select from json_to_recordset(r.audits) as a (organization_id uuid)
      where (a.organization_id = any (tenants)) is not true)
    or exists (select from json_to_recordset(r.events) as e (organization_id uuid)
      where e.organization_id <> all (tenants))
  then
    raise exception 'a row belongs to a tenant without a launch' using errcode = 'insufficient_privilege';
  end if;
  perform hold_for_sale(r.funds, r.quotas, r.hosts, r.slots, r.gpu_models, r.silence_seconds);
  perform insert_allocations(r.allocations, r.decided_at);
  perform insert_claims(r.slots, r.claims, r.claimants, r.claimed_slots);
  perform emit_events(r.events);
  perform start_workflows(r.workflow, r.workflow_starts);
  perform record_audits(r.audits);
  perform keep_answers(r.replies);
  return pg_current_xact_id()::text;
end $$;
revoke execute on function sell(json) from public;
grant execute on function sell(json) to gpuaas_placement;
