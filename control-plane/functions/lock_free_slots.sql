-- plan: by index
create or replace function lock_free_slots(slots uuid[], patient boolean, silence_seconds integer)
 RETURNS TABLE(slot_id uuid, node_id uuid, mode text, region text, gpu_model text, promises json)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
AS $$
#variable_conflict use_column
declare
  locked uuid[];
  hosts uuid[];
begin
  if patient then
    select array_agg(l.id), array_agg(distinct l.node_id) into locked, hosts from (
      select s.id, s.node_id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s for key share of n) as l;
  else
    select array_agg(l.id), array_agg(distinct l.node_id) into locked, hosts from (
      select s.id, s.node_id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s skip locked for key share of n skip locked) as l;
  end if;
  return query
    with open as materialized (
      select n.id, n.mode, n.region, (
          select json_agg(json_build_object('holder', p.holder_id, 'from', extract(epoch from p.starts_at) * 1000,
            'until', extract(epoch from p.ends_at) * 1000) order by p.id)
          from node_promises p where p.node_id = n.id) as promises
      from unnest(hosts) as host join nodes n on n.id = host
      where not n.draining and n.last_heartbeat_at > now() - make_interval(secs => silence_seconds)
        and not exists (select from node_cordons c where c.node_id = n.id)
    )
    select s.id, s.node_id, n.mode, n.region, s.gpu_model, n.promises
    from unnest(locked) as lock join node_resource_slots s on s.id = lock join open n on n.id = s.node_id
    where s.state = 'available' and s.health_state <> 'unhealthy'
      and is_complete(s)
      and not exists (select from claim_cells e where e.node_id = s.node_id and e.cell = s.slot_index);
end $$;
