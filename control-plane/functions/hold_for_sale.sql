-- plan: by index
-- Locks what a batch of launches needs, if everything that the decision used still holds, until the transaction ends: funds
-- and quotas first, in the same order in every transaction, then slots, where it does not wait for rivals. A condition that
-- no longer holds fails the batch as a whole; the caller then decides on the slow path.
create or replace function hold_for_sale(funds json, quotas json, hosts json, taken uuid[], models text[], silence_seconds integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  wanted bigint;
  held bigint;
  broken boolean;
begin
  if json_array_length(funds) > 0 then
    perform pg_advisory_xact_lock(hashtextextended('funds ' || tenant, 0))
      from (select distinct f.tenant from json_to_recordset(funds) as f (tenant uuid) order by 1) as ordered;
    -- The exact sum reads every lease of the tenant, so it is taken only where the upper bound is not covered.
    select bool_or(not case
        when covers(f.available, coalesce(m.per_hour_micros, 0) + f.asked, f.seconds, coalesce(m.kept_per_hour_micros, 0),
          f.kept_seconds) then true
        else coalesce((select covers(f.available, c.running_micros + c.pending_micros + f.asked, f.seconds,
              kept_beside(c.kept, f.launches), f.kept_seconds)
            from committed_funds(array[f.tenant], now()) as c where c.currency = f.currency),
          covers(f.available, f.asked, f.seconds, 0, 0)) end) into broken
      from json_to_recordset(funds) as f (tenant uuid, currency text, available bigint, asked bigint, seconds integer,
          kept_seconds integer, launches json)
        left join lateral committed_at_most(f.tenant, now()) as m on m.currency = f.currency;
    if broken then raise exception 'the funds do not cover the launches' using errcode = 'GS001'; end if;
  end if;

  -- The platform's quota, or the policy's if there is none; the tenant's quota if it is smaller.
  select count(*), bool_or(h.used + h.asked > effective_limit(h.platform_limit, h.most, h.tenant_limit))
    into held, broken from (
      select q.used, w.asked, w.most, l.platform_limit, l.tenant_limit
      from json_to_recordset(quotas) as w (o uuid, t text, h uuid, m text, u text, asked bigint, most bigint)
        join quota_usage q on q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h
          and q.measure = w.m and q.unit = w.u
        cross join lateral (
          select max(l.amount) filter (where l.set_by = 'platform') as platform_limit,
            max(l.amount) filter (where l.set_by = 'tenant') as tenant_limit
          from quota_limits l where l.organization_id = w.o and l.holder_type = w.t and l.holder_id = w.h
            and l.measure = w.m and l.unit = w.u) as l
      order by q.organization_id, q.holder_type, q.holder_id, q.measure, q.unit
      for update of q) as h;
  if broken or held <> json_array_length(quotas) then
    raise exception 'a quota does not allow the launches' using errcode = 'GS001';
  end if;

  -- Lock nodes and slots first: later statements then read states that rivals have committed.
  perform from (
    select n.id from json_to_recordset(hosts) as h (id uuid) join nodes n on n.id = h.id
    for key share of n skip locked) as locked;
  get diagnostics held = row_count;
  wanted := json_array_length(hosts);
  if held = wanted then
    perform from (select s.id from unnest(taken) as t join node_resource_slots s on s.id = t
      for update of s skip locked) as locked;
    get diagnostics held = row_count;
    wanted := cardinality(taken);
  end if;
  if held <> wanted then raise exception 'another transaction holds a slot' using errcode = 'GS001'; end if;

  select count(*) into held from json_to_recordset(hosts) as h (id uuid, mode text, region text)
    join nodes n on n.id = h.id
    where n.mode = h.mode and n.region = h.region and not n.draining
      and n.last_heartbeat_at > now() - make_interval(secs => silence_seconds)
      and not exists (select from node_cordons c where c.node_id = n.id);
  if held <> json_array_length(hosts) then
    raise exception 'a node is no longer for sale' using errcode = 'GS001';
  end if;
  update node_resource_slots s set state = 'reserved'
    from unnest(taken, models) as t (id, gpu_model)
    where s.id = t.id and s.gpu_model = t.gpu_model
      and s.state = 'available' and s.health_state <> 'unhealthy' and is_complete(s);
  get diagnostics held = row_count;
  if held <> cardinality(taken) then raise exception 'a slot is no longer for sale' using errcode = 'GS001'; end if;
end $function$;
