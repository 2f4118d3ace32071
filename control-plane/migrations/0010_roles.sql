-- Who may do what. Every piece of work runs under one of these roles (`set local role` at the begin of its
-- transaction, platform/db/scope.ts); nobody logs in as one of them. The login user owns the schema, migrates it
-- and does nothing else with it. See docs/decisions/0003-database-roles.md.

-- Roles belong to the whole server: another database may have made them, or be making them at this moment.
do $$
declare
  role text;
  settable text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
  foreach role in array array[
    'gpuaas_tenant',     -- requests of tenants: their own rows and the catalog
    'gpuaas_operator',   -- requests of operators: the fleet, and what tenants have on it
    'gpuaas_placement',  -- the part of a launch that takes slots
    'gpuaas_worker',     -- workflows and ticks
    'gpuaas_relay',      -- readers of the whole event log and their cursors
    'gpuaas_node',       -- requests of agents: their own tasks
    'gpuaas_gateway',    -- terminals: redeems a token and opens the machine it names
    'gpuaas_auth'        -- who is calling: keys, sessions, users and their rights; sign-up
  ] loop
    if to_regrole(role) is null then
      begin
        execute format('create role %I nologin', role);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    if not pg_has_role(current_user, role, settable) then
      begin
        execute format('grant %I to %I', role, current_user);
      exception when unique_violation then null;
      end;
    end if;
  end loop;
exception when insufficient_privilege then
  raise exception 'the database user % can neither make nor take the role %: give it CREATEROLE, or the roles (docs/decisions/0003-database-roles.md)',
    current_user, role using errcode = 'insufficient_privilege';
end $$;

-- Whose rows the transaction may see. Unset, nobody's.
create function scope_organizations() returns uuid[] language sql stable parallel safe
  return coalesce(nullif(current_setting('app.organization_ids', true), '')::uuid[], '{}');
create function scope_caller() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.caller_id', true), '')::uuid;
create function scope_node() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.node_id', true), '')::uuid;

-- The engine's tables are closed to agents: this is the one thing they cause there.
alter function signal_workflow(text, text, json) security definer set search_path = pg_catalog, public, pg_temp;
revoke execute on function signal_workflow(text, text, json) from public;
grant execute on function signal_workflow(text, text, json) to gpuaas_node, gpuaas_worker;
revoke execute on function rebase_event_log() from public;
revoke execute on function create_month_partitions(timestamptz, integer) from public;
grant execute on function create_month_partitions(timestamptz, integer) to gpuaas_worker;

-- The engine makes its schema by itself, after this migration; the platform calls this when it is there.
create function grant_workflow_engine() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('grant_workflow_engine', 0));
  grant usage on schema dbos to gpuaas_worker;
  -- Which tables its functions write is the engine's own business.
  grant select, insert, update on all tables in schema dbos to gpuaas_worker;
  -- How much is waiting, for metrics.
  grant usage on schema dbos to gpuaas_operator;
  grant select (workflow_uuid, status, name, created_at) on dbos.workflow_status to gpuaas_operator;
end $$;
revoke execute on function grant_workflow_engine() from public;

-- Grants ------------------------------------------------------------------------------------------------------
-- Audit rows, events, wipe certificates and claims are only ever added to: nobody below may update or delete
-- them, apart from the one column of a claim that says when it ended.

grant select on regions, images, sku_catalog, sku_prices to gpuaas_tenant, gpuaas_operator, gpuaas_worker;
grant update (enabled) on sku_catalog to gpuaas_operator;

grant select on organizations, projects to gpuaas_tenant, gpuaas_operator;
-- Locked by whoever adds the last thing a project may have.
grant update (name) on projects to gpuaas_tenant;
grant insert on organizations, projects to gpuaas_auth;

grant select on users, permission_bindings, api_keys, sessions, pending_logins to gpuaas_auth;
grant insert, update (email, name) on users to gpuaas_auth;
grant insert on permission_bindings to gpuaas_auth;
grant insert, delete on sessions, pending_logins to gpuaas_auth;

grant select, insert, update (response_status, response_body, response_location) on idempotency_keys
  to gpuaas_tenant, gpuaas_operator;
grant select (created_at), delete on idempotency_keys to gpuaas_worker;

grant insert on audit_logs to gpuaas_tenant, gpuaas_operator, gpuaas_worker, gpuaas_node, gpuaas_gateway;
grant select on audit_logs to gpuaas_tenant, gpuaas_operator;

-- To keep its order an event looks up the last transaction of its subject; that is all most writers see.
grant insert on outbox_events to gpuaas_tenant, gpuaas_operator, gpuaas_placement, gpuaas_worker, gpuaas_node;
grant select (subject_id, xid) on outbox_events to gpuaas_placement, gpuaas_node;
grant select on outbox_events to gpuaas_tenant, gpuaas_operator, gpuaas_worker, gpuaas_relay;
grant select, insert, update on event_consumers to gpuaas_relay;
grant select on event_consumers to gpuaas_operator, gpuaas_worker;
grant select, insert, delete on handled_events to gpuaas_worker;

grant select on nodes, node_resource_slots to gpuaas_operator, gpuaas_placement, gpuaas_worker;
grant update (mode, draining) on nodes to gpuaas_operator;
grant select, insert, update (agent_version, boot_id, last_heartbeat_at, observed) on nodes to gpuaas_node;
grant insert, update (state, health_state, health_detail) on node_resource_slots to gpuaas_operator;
grant update (state) on node_resource_slots to gpuaas_placement;
grant update (state, health_state, health_detail, last_wipe_id) on node_resource_slots to gpuaas_worker;
grant select, insert on node_enrolments to gpuaas_operator;
grant select, update (used_at) on node_enrolments to gpuaas_node;
grant select, insert on node_certificates to gpuaas_node;
grant select, update (revoked_at) on node_certificates to gpuaas_operator;
grant select, insert on node_tasks to gpuaas_operator;
grant select, insert, update on node_tasks to gpuaas_worker;
grant select, update on node_tasks to gpuaas_node;

-- Tenants write what they want; what is, only workers write.
grant select, insert, update (desired_state, release_attempts, release_requested_at) on allocations to gpuaas_tenant;
grant select on allocations to gpuaas_operator;
grant select (id, organization_id) on allocations to gpuaas_placement;
grant select, update on allocations to gpuaas_worker;
grant select (id, organization_id, project_id, state, node_id) on allocations to gpuaas_node;
grant select (id, organization_id, node_id, state, desired_state, connection) on allocations to gpuaas_gateway;
grant insert on allocation_resource_claims to gpuaas_placement;
grant select on allocation_resource_claims to gpuaas_operator, gpuaas_worker;
grant update (released_at) on allocation_resource_claims to gpuaas_worker;
grant select on wipe_certificates to gpuaas_tenant, gpuaas_operator, gpuaas_worker;
grant insert on wipe_certificates to gpuaas_worker;
grant select (allocation_id, public_key), insert, delete on allocation_access_keys to gpuaas_worker;
grant select on allocation_access_keys to gpuaas_gateway;
grant select (allocation_id), insert, delete on terminal_tokens to gpuaas_tenant;
grant select, delete on terminal_tokens to gpuaas_gateway;
grant select (expires_at), delete on terminal_tokens to gpuaas_worker;

grant select on allocation_overviews to gpuaas_tenant, gpuaas_operator;
grant select, insert, update, delete on allocation_overviews to gpuaas_worker;

grant select, insert, update, delete on webhooks to gpuaas_tenant;
grant select, insert on webhook_deliveries to gpuaas_tenant;
grant select on webhook_attempts to gpuaas_tenant;
grant select, update on webhooks to gpuaas_worker;
grant select, insert, update, delete on webhook_deliveries, webhook_attempts to gpuaas_worker;

grant select (workflow_id), insert on workflow_starts to gpuaas_tenant;
grant select, insert on workflow_starts to gpuaas_operator;
grant select, insert, update, delete on workflow_starts, workflow_signals, workflow_executors, tick_runs
  to gpuaas_worker;
grant select, insert, update on incidents to gpuaas_worker;
grant select, update (acknowledged_at, acknowledged_by, resolved_at, resolved_by, resolution) on incidents
  to gpuaas_operator;

-- Rows --------------------------------------------------------------------------------------------------------
-- Whatever belongs to a tenant is behind row-level security, and a role without a policy sees none of it. Roles
-- that act for the platform see all rows of what the grants above give them; each `true` is reviewed in
-- src/platform/db/testing/reviewed-access.ts. The sub-select makes Postgres read the setting once per query.

alter table organizations enable row level security;
create policy own on organizations to gpuaas_tenant using (id = any ((select scope_organizations())::uuid[]));
create policy every on organizations for select to gpuaas_operator using (true);
create policy sign_up on organizations for insert to gpuaas_auth with check (true);

alter table projects enable row level security;
create policy own on projects to gpuaas_tenant using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on projects for select to gpuaas_operator using (true);
create policy sign_up on projects for insert to gpuaas_auth with check (true);

alter table permission_bindings enable row level security;
create policy every on permission_bindings to gpuaas_auth using (true);

alter table idempotency_keys enable row level security;
create policy own on idempotency_keys to gpuaas_tenant, gpuaas_operator using (caller_id = (select scope_caller()));
create policy old on idempotency_keys to gpuaas_worker using (created_at < now() - interval '24 hours');

alter table audit_logs enable row level security;
create policy own on audit_logs for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
-- An attempt on what is not theirs has no tenant to name.
create policy own_or_nobodys on audit_logs for insert to gpuaas_tenant
  with check (organization_id is null or organization_id = any ((select scope_organizations())::uuid[]));
create policy nobodys on audit_logs for insert to gpuaas_node with check (organization_id is null);
create policy every on audit_logs to gpuaas_operator, gpuaas_worker, gpuaas_gateway using (true);

alter table outbox_events enable row level security;
create policy own on outbox_events to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on outbox_events for select
  to gpuaas_operator, gpuaas_placement, gpuaas_worker, gpuaas_relay, gpuaas_node using (true);
create policy every_write on outbox_events for insert to gpuaas_operator, gpuaas_worker with check (true);
create policy nobodys on outbox_events for insert to gpuaas_placement with check (organization_id is null);
create policy of_its_machines on outbox_events for insert to gpuaas_node
  with check (organization_id is null or exists (
    select from allocations a where a.id = subject_id and a.organization_id = outbox_events.organization_id));

alter table node_tasks enable row level security;
create policy own on node_tasks to gpuaas_node using (node_id = (select scope_node()));
create policy every on node_tasks to gpuaas_operator, gpuaas_worker using (true);

alter table allocations enable row level security;
create policy own on allocations to gpuaas_tenant, gpuaas_placement
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy on_it on allocations for select to gpuaas_node using (node_id = (select scope_node()));
create policy every on allocations to gpuaas_operator, gpuaas_worker, gpuaas_gateway using (true);

alter table allocation_overviews enable row level security;
create policy own on allocation_overviews for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on allocation_overviews to gpuaas_operator, gpuaas_worker using (true);

-- What hangs on an allocation is seen by who sees the allocation.
alter table allocation_resource_claims enable row level security;
create policy own on allocation_resource_claims for insert to gpuaas_placement
  with check (exists (select from allocations a where a.id = allocation_id));
create policy every on allocation_resource_claims to gpuaas_operator, gpuaas_worker using (true);

alter table claim_cells enable row level security;

alter table wipe_certificates enable row level security;
create policy own on wipe_certificates for select to gpuaas_tenant
  using (exists (select from allocations a where a.id = allocation_id));
create policy every on wipe_certificates to gpuaas_operator, gpuaas_worker using (true);

alter table allocation_access_keys enable row level security;
create policy every on allocation_access_keys to gpuaas_worker, gpuaas_gateway using (true);

alter table terminal_tokens enable row level security;
create policy own on terminal_tokens to gpuaas_tenant
  using (exists (select from allocations a where a.id = allocation_id));
create policy every on terminal_tokens to gpuaas_gateway using (true);
create policy expired on terminal_tokens to gpuaas_worker using (expires_at < now());

alter table webhooks enable row level security;
create policy own on webhooks to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on webhooks to gpuaas_worker using (true);

alter table webhook_deliveries enable row level security;
create policy own on webhook_deliveries to gpuaas_tenant
  using (exists (select from webhooks w where w.id = webhook_id));
create policy every on webhook_deliveries to gpuaas_worker using (true);

alter table webhook_attempts enable row level security;
create policy own on webhook_attempts for select to gpuaas_tenant
  using (exists (select from webhook_deliveries d where d.id = delivery_id));
create policy every on webhook_attempts to gpuaas_worker using (true);
