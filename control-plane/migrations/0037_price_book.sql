-- The catalog as data that operators run: prices with effective dates, also for single tenants, who may buy what,
-- blessed digests, and whole nodes beside slices.

alter table sku_prices
  -- Null is the list price; else what one tenant pays instead.
  add organization_id uuid references organizations,
  add effective_until timestamptz,
  add reason text not null default '' check (length(reason) <= 500),
  add created_by uuid,
  add created_at timestamptz not null default now(),
  drop constraint sku_prices_sku_region_currency_effective_from_key,
  add unique nulls not distinct (sku, region, currency, organization_id, effective_from),
  add check (effective_until > effective_from),
  -- A list price holds until the next one.
  add check (organization_id is not null or effective_until is null);

-- What was charged by can always be shown. Only a price that never took effect can be withdrawn.
create function keep_prices() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.effective_from > clock_timestamp() then
    return old;
  end if;
  raise exception 'a price that took effect is kept as it is' using errcode = 'restrict_violation';
end $$;
create trigger sku_prices_are_kept before update or delete on sku_prices
  for each row execute function keep_prices();
create trigger sku_prices_are_not_emptied before truncate on sku_prices
  for each statement execute function forbid_change();

alter table sku_catalog
  add check (gpus_total >= all (allowed_gpu_counts) and 1 <= all (allowed_gpu_counts)),
  -- A whole node is sold whole.
  add check (capacity_shape <> 'baremetal' or allowed_gpu_counts = array[gpus_total]);

insert into sku_catalog (sku, display_name, capacity_shape, gpu_model, gpus_total, allowed_gpu_counts,
  vcpu_per_gpu, memory_gib_per_gpu) values
  ('h200-sxm-baremetal', 'H200 SXM node', 'baremetal', 'H200-SXM-141GB', 8, '{8}', 24, 64);
insert into sku_prices (id, sku, region, currency, per_gpu_hour_micros, effective_from) values
  ('019a8000-0000-7000-8000-000000000002', 'h200-sxm-baremetal', 'uae-north-1', 'USD', 2790000, '2026-01-01T00:00:00Z');

-- Who may buy what, where it differs from the policy `catalog.entitled_by_default`.
create table sku_entitlements (
  organization_id uuid not null references organizations,
  sku text not null references sku_catalog,
  entitled boolean not null,
  reason text not null default '' check (length(reason) <= 500),
  changed_at timestamptz not null default now(),
  primary key (organization_id, sku)
);

-- An image can be launched once somebody vouches for a digest of it.
alter table images
  alter digest drop not null,
  add readiness_checks text[] not null default '{}'
    check (readiness_checks <@ array['nvidia_driver', 'cuda_toolkit']);
update images set readiness_checks = '{nvidia_driver,cuda_toolkit}' where kind = 'cuda-dev';

create table image_blessings (
  id uuid primary key,
  image text not null references images,
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$'),
  reason text not null check (length(reason) between 1 and 500),
  blessed_by uuid not null,
  blessed_at timestamptz not null default now()
);
create index image_blessings_image on image_blessings (image, id desc);
create trigger image_blessings_append_only before update or delete or truncate on image_blessings
  for each statement execute function forbid_change();

grant insert, delete on sku_prices to gpuaas_operator;
grant insert, update (display_name, allowed_gpu_counts, vcpu_per_gpu, memory_gib_per_gpu) on sku_catalog
  to gpuaas_operator;
grant insert, update (display_name, status) on regions to gpuaas_operator;
grant insert (image, display_name, kind, readiness_checks), update (display_name, readiness_checks, digest) on images
  to gpuaas_operator;
grant select, insert on image_blessings to gpuaas_operator;
grant select, insert, update (entitled, reason, changed_at), delete on sku_entitlements to gpuaas_operator;
grant select on sku_entitlements to gpuaas_tenant;

alter table sku_prices enable row level security;
create policy list_or_own on sku_prices for select to gpuaas_tenant
  using (organization_id is null or organization_id = any ((select scope_organizations())::uuid[]));
create policy every on sku_prices to gpuaas_operator, gpuaas_worker using (true);

alter table sku_entitlements enable row level security;
create policy own on sku_entitlements for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on sku_entitlements to gpuaas_operator using (true);
