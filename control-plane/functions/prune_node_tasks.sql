-- Deletes finished node tasks from before a time, at most so many, and returns how many. Kept are the newest of each kind on a
-- host, with and without success (readiness and discovery are read from them), and tasks that a proof, a disk or a public
-- port names. Runs as the owner: no role deletes tasks at will.
create or replace function prune_node_tasks(before timestamptz, at_most integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  deleted integer;
begin
  if before > now() - interval '30 days' then
    raise exception 'node tasks are kept at least 30 days' using errcode = 'invalid_parameter_value';
  end if;
  delete from node_tasks where id in (
    select t.id from node_tasks t
    where t.created_at < before and t.finished_at < before and t.state in ('succeeded', 'failed', 'expired')
      and exists (select from node_tasks later where later.node_id = t.node_id and later.kind = t.kind
        and (later.created_at, later.id) > (t.created_at, t.id) and (t.state <> 'succeeded' or later.state = 'succeeded'))
      and not exists (select from wipe_certificates w where w.node_task_id = t.id)
      and not exists (select from host_cleanups h where h.node_task_id = t.id)
      and not exists (select from node_disks d where d.evidence_task_id = t.id)
      and not exists (select from public_ingresses i where i.task_id = t.id)
    order by t.created_at limit at_most for update of t skip locked);
  get diagnostics deleted = row_count;
  return deleted;
end $$;
revoke execute on function prune_node_tasks(timestamptz, integer) from public;
grant execute on function prune_node_tasks(timestamptz, integer) to gpuaas_worker;
