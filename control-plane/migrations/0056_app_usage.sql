-- What apps report of their use. A record is known by its producer and its id for ever; a meter follows what a tenant used
-- of one price, so that amounts of records add up to the price of the whole however the use was cut.

create table app_usage_prices (
  id uuid primary key,
  app text not null check (app ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  -- GPU time is none of them: leases pay for it.
  dimension text not null check (dimension in ('tokens', 'requests', 'model_seconds')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  per_block_micros bigint not null check (per_block_micros >= 0),
  block bigint not null check (block > 0),
  effective_from timestamptz not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  unique (app, dimension, currency, effective_from),
  unique (id, app, dimension, currency, per_block_micros, block)
);
create trigger app_usage_prices_append_only before update or delete or truncate on app_usage_prices
  for each statement execute function forbid_change();

create table app_usage_meters (
  id uuid primary key,
  organization_id uuid not null references organizations,
  price_id uuid not null references app_usage_prices,
  quantity bigint not null default 0 check (quantity >= 0),
  records bigint not null default 0 check (records >= 0),
  unique (organization_id, price_id),
  unique (id, organization_id, price_id)
);

create table app_usage_records (
  id uuid primary key,
  producer text not null check (length(producer) between 1 and 64),
  record_id text not null check (length(record_id) between 1 and 100),
  organization_id uuid not null references organizations,
  project_id uuid not null references projects,
  user_id uuid,
  -- The lease that the app ran on, where it was one of the tenant's own.
  allocation_id uuid references allocations,
  app text not null,
  dimension text not null check (dimension in ('tokens', 'requests', 'model_seconds')),
  quantity bigint not null check (quantity > 0),
  occurred_at timestamptz not null,
  -- The price, and where on its meter the record is; nothing of it where nothing is charged.
  price_id uuid,
  meter_id uuid,
  sequence bigint check (sequence > 0),
  currency text,
  per_block_micros bigint,
  block bigint,
  quantity_before bigint check (quantity_before >= 0),
  amount_micros bigint not null check (amount_micros >= 0),
  not_charged_because text check (length(not_charged_because) <= 100),
  ledger_transaction_id uuid,
  recorded_at timestamptz not null,
  unique (producer, record_id),
  unique (meter_id, sequence),
  unique (meter_id, quantity_before),
  foreign key (price_id, app, dimension, currency, per_block_micros, block)
    references app_usage_prices (id, app, dimension, currency, per_block_micros, block),
  foreign key (meter_id, organization_id, price_id) references app_usage_meters (id, organization_id, price_id),
  foreign key (ledger_transaction_id, organization_id, currency)
    references ledger_transactions (id, organization_id, currency),
  constraint app_usage_has_price_or_reason check (
    num_nulls(price_id, meter_id, sequence, currency, per_block_micros, block, quantity_before)
      = case when not_charged_because is null then 0 else 7 end),
  constraint app_usage_costs_quantity_times_price check (amount_micros = case when price_id is null then 0 else
    div(per_block_micros::numeric * (quantity_before + quantity), block)
      - div(per_block_micros::numeric * quantity_before, block) end),
  constraint app_usage_is_debited check ((amount_micros <> 0) = (ledger_transaction_id is not null)),
  -- The second of a GPU is sold once.
  constraint app_usage_never_charges_time_of_a_lease
    check (allocation_id is null or dimension <> 'model_seconds' or price_id is null)
);
create index app_usage_records_of_month on app_usage_records (organization_id, occurred_at);
create index app_usage_records_by_time on app_usage_records (occurred_at);
create index app_usage_records_of_debit on app_usage_records (ledger_transaction_id)
  where ledger_transaction_id is not null;
create trigger app_usage_records_append_only before update or delete or truncate on app_usage_records
  for each statement execute function forbid_change();

-- How much a producer reported in its current minute.
create table app_usage_producers (
  producer text primary key check (length(producer) between 1 and 64),
  minute timestamptz not null,
  records bigint not null
);

alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check
  check (kind in ('credit', 'adjustment', 'usage', 'usage_correction', 'app_usage', 'payment', 'refund', 'dispute'));

grant select, insert on app_usage_prices, app_usage_records to gpuaas_operator;
grant select, insert, update (quantity, records) on app_usage_meters to gpuaas_operator;
grant select, insert, update on app_usage_producers to gpuaas_operator;
grant select on app_usage_records to gpuaas_tenant, gpuaas_worker;

alter table app_usage_meters enable row level security;
create policy every on app_usage_meters to gpuaas_operator using (true);

alter table app_usage_records enable row level security;
create policy own on app_usage_records for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on app_usage_records to gpuaas_operator, gpuaas_worker using (true);

-- The same as before, with what apps were used for.
create or replace function budget_spent(budget budgets, at timestamptz) returns bigint language sql stable as $$
  select (
    coalesce((select sum(u.amount_micros) from usage_records u
      where u.organization_id = budget.organization_id and u.currency = budget.currency
        and u.window_from >= date_trunc('month', at, 'UTC')
        and case budget.scope_type when 'tenant' then true
          when 'project' then u.project_id = budget.scope_id
          when 'user' then u.user_id = budget.scope_id
          else exists (select from team_members t where t.team_id = budget.scope_id and t.user_id = u.user_id) end), 0)
    + coalesce((select sum(r.amount_micros) from app_usage_records r
      where r.organization_id = budget.organization_id and r.currency = budget.currency
        and r.occurred_at >= date_trunc('month', at, 'UTC')
        and case budget.scope_type when 'tenant' then true
          when 'project' then r.project_id = budget.scope_id
          when 'user' then r.user_id = budget.scope_id
          else exists (select from team_members t where t.team_id = budget.scope_id and t.user_id = r.user_id) end), 0)
    + coalesce((select sum(div(m.per_hour_micros::numeric * greatest(0, floor(extract(epoch from
          least(at, coalesce(a.release_requested_at, at)) - m.started_at)) - m.metered_seconds), 3600))
      from allocation_meters m join allocations a on a.id = m.allocation_id
      where m.ended_at is null and m.organization_id = budget.organization_id and m.currency = budget.currency
        and case budget.scope_type when 'tenant' then true
          when 'project' then m.project_id = budget.scope_id
          when 'user' then a.owner_user_id = budget.scope_id
          else exists (select from team_members t
            where t.team_id = budget.scope_id and t.user_id = a.owner_user_id) end), 0))::bigint
$$;
