-- Reserved capacity that stays unused beside these launches, which use started reservations of their project.
create or replace function kept_beside(tenant uuid, in_currency text, at timestamptz, launches json) returns bigint
  language sql stable as $$
  select coalesce(sum(greatest(0, k.micros - case when k.started then coalesce(l.micros, 0) else 0 end)), 0)::bigint
  from (
    select u.project_id, u.sku, u.started, sum(u.per_hour_micros) as micros from unused_reservations(tenant, at) as u
    where u.currency = in_currency group by 1, 2, 3
  ) as k
    left join json_to_recordset(launches) as l (project uuid, sku text, micros bigint)
      on l.project = k.project_id and l.sku = k.sku
$$;
