-- An app instance counts from its start until its end. Every transaction takes the counters in the same order.
create or replace function count_apps_in_quota() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  counted constant text[] := array['starting', 'running', 'stopping'];
  change integer := (new.status = any (counted))::integer
    - (case tg_op when 'UPDATE' then (old.status = any (counted))::integer else 0 end);
begin
  if change = 0 then
    return null;
  end if;
  insert into quota_usage as u (organization_id, holder_type, holder_id, measure, unit, used)
    select new.organization_id, h.holder_type, h.holder_id, 'app_instances', '', greatest(change, 0)
    from (values ('project', new.project_id), ('user', new.created_by)) as h (holder_type, holder_id)
    order by 1, 2, 3
    on conflict (organization_id, holder_type, holder_id, measure, unit) do update set used = u.used + change;
  return null;
end $$;
revoke execute on function count_apps_in_quota() from public;
create or replace trigger count_apps_in_quota after insert or update of status on app_instances
  for each row execute function count_apps_in_quota();
