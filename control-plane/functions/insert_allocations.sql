-- plan: by index
-- `at` is the time of the decision, by this database's clock.
create or replace function insert_allocations(sold json, at timestamptz default now()) returns timestamptz language plpgsql as $$
begin
  insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id, created_at, state_changed_at)
  select id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, 'reserved', node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id, at, at
  from json_to_recordset(sold) as a (id uuid, organization_id uuid, project_id uuid, name text, sku text,
    capacity_shape text, gpu_count smallint, image text, image_digest text, region text, node_id uuid,
    ends_at timestamptz, currency text, per_gpu_hour_micros bigint, price_id uuid, created_by uuid, owner_user_id uuid,
    ssh_authorized_keys text[], tags text[], correlation_id uuid);
  return at;
end $$;
