-- An upper bound of `committed_funds` that does not read the leases. The counters of the tenant's projects count a lease from
-- its first claim until its last one ends, so also while it is released. Reservations count as if nothing used them.
create or replace function committed_at_most(tenant uuid, at timestamptz)
  returns table (currency text, per_hour_micros bigint, kept_per_hour_micros bigint, kept json)
  language sql stable as $$
  select c.currency, sum(c.micros)::bigint, sum(c.kept_micros)::bigint,
    coalesce(json_agg(c.kept) filter (where c.kept is not null), '[]')
  from (
    select q.unit as currency, q.used as micros, 0 as kept_micros, null::json as kept
    from quota_usage q
    where q.organization_id = tenant and q.holder_type = 'project' and q.measure = 'spend_per_hour'
    union all
    select r.currency, 0, r.held_per_hour_micros, json_build_object('projectId', r.project_id,
      'nodeIds', array(select p.node_id from node_promises p where p.reservation_id = r.id and r.starts_at <= at),
      'perHourMicros', r.held_per_hour_micros::text)
    from capacity_reservations r
    where r.organization_id = tenant and r.cancelled_at is null and r.ends_at > at and r.held_per_hour_micros > 0
  ) as c
  group by 1
$$;
