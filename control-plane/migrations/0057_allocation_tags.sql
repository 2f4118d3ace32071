-- What leases are for, in the tenant's own words. Reports group by them; nothing else decides by them.

alter table allocations add tags text[] not null default '{}' check (cardinality(tags) <= 10);
grant update (tags) on allocations to gpuaas_tenant;

create or replace function insert_allocations(sold json) returns timestamptz language plpgsql
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id)
  select id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, 'reserved', node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id
  from json_to_recordset(sold) as a (id uuid, organization_id uuid, project_id uuid, name text, sku text,
    capacity_shape text, gpu_count smallint, image text, image_digest text, region text, node_id uuid,
    ends_at timestamptz, currency text, per_gpu_hour_micros bigint, price_id uuid, created_by uuid, owner_user_id uuid,
    ssh_authorized_keys text[], tags text[], correlation_id uuid);
  return now();
end $$;
