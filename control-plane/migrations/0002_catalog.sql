-- What can be sold. Rows are data set by operators; nothing here is code.

create table regions (
  region text primary key,
  display_name text not null,
  status text not null check (status in ('enabled', 'coming'))
);

create table images (
  image text primary key,
  display_name text not null,
  kind text not null check (kind in ('base', 'cuda-dev')),
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$')
);

create table sku_catalog (
  sku text primary key,
  display_name text not null,
  capacity_shape text not null check (capacity_shape in ('baremetal', 'gpu_slice')),
  gpu_model text not null,
  gpus_total smallint not null check (gpus_total between 1 and 16),
  allowed_gpu_counts smallint[] not null check (cardinality(allowed_gpu_counts) > 0),
  vcpu_per_gpu integer not null check (vcpu_per_gpu > 0),
  memory_gib_per_gpu integer not null check (memory_gib_per_gpu > 0),
  enabled boolean not null default false
);

create table sku_prices (
  id uuid primary key,
  sku text not null references sku_catalog,
  region text not null references regions,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  per_gpu_hour_micros bigint not null check (per_gpu_hour_micros >= 0),
  effective_from timestamptz not null,
  unique (sku, region, currency, effective_from)
);
