-- Hourly cost of reserved capacity that the project does not use on the reserved nodes.
create or replace function unused_reservations(tenant uuid, at timestamptz)
  returns table (currency text, project_id uuid, node_ids uuid[], per_hour_micros bigint)
  language sql stable as $$
  select r.currency, r.project_id, n.ids, greatest(0, r.held_per_hour_micros - coalesce((
      select sum(a.per_gpu_hour_micros * a.gpu_count) from allocations a
      where a.organization_id = tenant and a.state in ('reserved', 'provisioning', 'active')
        and a.release_requested_at is null and a.project_id = r.project_id and a.currency = r.currency
        and a.node_id = any (n.ids)), 0))::bigint
  from capacity_reservations r
    -- Before it starts nothing uses its money: the start finds all of it.
    cross join lateral (select array(
      select p.node_id from node_promises p where p.reservation_id = r.id and r.starts_at <= at) as ids) as n
  where r.organization_id = tenant and r.cancelled_at is null and r.ends_at > at and r.held_per_hour_micros > 0
$$;
