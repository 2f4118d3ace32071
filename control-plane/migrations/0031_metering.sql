-- From observed leases to ledger entries. Outages say when a lease was not served; a meter follows one lease; usage
-- records tile its time, each second once; a record with an amount has exactly one ledger transaction.

create table allocation_outages (
  id uuid primary key,
  allocation_id uuid not null references allocations,
  cause text not null check (cause in ('host_silent', 'machine_absent')),
  -- What the host's evidence said when it came back: the same boot and the same machine have served it.
  served boolean not null,
  began_at timestamptz not null,
  ended_at timestamptz check (ended_at >= began_at),
  evidence jsonb not null default '{}',
  -- Rises with every change, so that a reader knows what it has seen.
  revision bigint not null generated always as identity,
  check (ended_at is not null or not served)
);
create index allocation_outages_allocation on allocation_outages (allocation_id);
create unique index allocation_outages_open on allocation_outages (allocation_id) where ended_at is null;

create table allocation_meters (
  allocation_id uuid primary key references allocations,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  sku text not null,
  region text not null,
  gpu_count smallint not null,
  -- The quote, as it was agreed.
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  per_hour_micros bigint not null check (per_hour_micros >= 0),
  started_at timestamptz not null,
  -- Seconds of the lease that records cover, those of them that were served, and what they cost.
  metered_seconds bigint not null default 0 check (metered_seconds >= 0),
  billed_seconds bigint not null default 0 check (billed_seconds between 0 and metered_seconds),
  billed_micros bigint not null default 0 check (billed_micros >= 0),
  records bigint not null default 0,
  -- The revision of outages up to which the records are right.
  seen_revision bigint not null default 0,
  ended_at timestamptz,
  -- A lease that ended while its host was silent: the seconds after this are free until the host proves them.
  unproven_after timestamptz
);
create index allocation_meters_open on allocation_meters (allocation_id)
  where ended_at is null or unproven_after is not null;
create index allocation_meters_live on allocation_meters (organization_id, project_id) where ended_at is null;

create table usage_records (
  id uuid primary key,
  allocation_id uuid not null references allocation_meters,
  sequence bigint not null check (sequence > 0),
  organization_id uuid not null,
  project_id uuid not null,
  -- Who the lease belonged to when it was recorded; nobody where it belongs to the project.
  user_id uuid,
  sku text not null,
  region text not null,
  gpu_count smallint not null,
  currency text not null,
  per_hour_micros bigint not null,
  -- The window in seconds of the lease; none in a correction, which covers no time of its own.
  from_second bigint check (from_second >= 0),
  to_second bigint check (to_second > from_second),
  window_from timestamptz not null,
  window_to timestamptz not null check (window_to >= window_from),
  billed_seconds bigint not null,
  billed_before bigint not null check (billed_before >= 0),
  amount_micros bigint not null,
  corrects_usage_id uuid references usage_records,
  reason text not null check (length(reason) between 1 and 200),
  ledger_transaction_id uuid,
  recorded_at timestamptz not null,
  unique (allocation_id, sequence),
  unique (allocation_id, from_second),
  unique (allocation_id, to_second),
  unique (ledger_transaction_id),
  foreign key (ledger_transaction_id, organization_id, currency)
    references ledger_transactions (id, organization_id, currency),
  -- A window begins where another one ends, or with the lease: no gap, and with the keys above no overlap.
  continues_at bigint generated always as (nullif(from_second, 0)) stored,
  foreign key (allocation_id, continues_at) references usage_records (allocation_id, to_second),
  constraint usage_is_window_or_correction
    check ((from_second is null) = (to_second is null) and (from_second is null) = (corrects_usage_id is not null)),
  constraint usage_bills_no_more_than_its_window
    check (from_second is null or billed_seconds between 0 and to_second - from_second),
  constraint usage_costs_seconds_times_quote
    check (amount_micros = div(per_hour_micros::numeric * (billed_before + billed_seconds), 3600)
      - div(per_hour_micros::numeric * billed_before, 3600)),
  constraint usage_is_debited check ((amount_micros <> 0) = (ledger_transaction_id is not null))
);
create index usage_records_of_tenant on usage_records (organization_id, id);
create index usage_records_of_project on usage_records (project_id, window_from);
create trigger usage_records_append_only before update or delete or truncate on usage_records
  for each statement execute function forbid_change();

-- New causes of ledger transactions.
alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check
  check (kind in ('credit', 'adjustment', 'usage', 'usage_correction', 'payment', 'refund', 'dispute'));

-- The sum of a tenant's entries, kept up by the entries themselves and by nobody else; ledger:verify adds up again.
create table balance_snapshots (
  organization_id uuid not null references organizations,
  currency text not null,
  micros bigint not null,
  primary key (organization_id, currency)
);
insert into balance_snapshots (organization_id, currency, micros)
  select organization_id, currency, sum(amount_micros) from ledger_entries where account = 'tenant_balance' group by 1, 2;

create function add_to_balances() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- In one order for everybody, so that two postings wait for each other and never deadlock.
  insert into balance_snapshots as b (organization_id, currency, micros)
    select organization_id, currency, sum(amount_micros) from posted where account = 'tenant_balance'
    group by 1, 2 order by 1, 2
  on conflict (organization_id, currency) do update set micros = b.micros + excluded.micros;
  return null;
end $$;
revoke execute on function add_to_balances() from public;
create trigger ledger_entries_add_up after insert on ledger_entries
  referencing new table as posted for each statement execute function add_to_balances();

-- Leases that run while this is installed get their meter.
insert into allocation_meters (allocation_id, organization_id, project_id, sku, region, gpu_count, currency,
    per_hour_micros, started_at)
  select id, organization_id, project_id, sku, region, gpu_count, currency, per_gpu_hour_micros * gpu_count, active_at
  from allocations where active_at is not null and released_at is null and release_requested_at is null;

grant select on allocation_outages, allocation_meters, usage_records, balance_snapshots
  to gpuaas_tenant, gpuaas_operator, gpuaas_worker;
grant select, insert, update (ended_at, revision) on allocation_outages to gpuaas_node;
grant insert on allocation_meters to gpuaas_worker;
grant update (metered_seconds, billed_seconds, billed_micros, records, seen_revision, ended_at, unproven_after)
  on allocation_meters to gpuaas_worker;
grant insert on usage_records to gpuaas_worker;
grant select, insert on ledger_transactions, ledger_entries to gpuaas_worker;
grant select (release_requested_at, desired_state, capacity_shape) on allocations to gpuaas_node;

alter table allocation_outages enable row level security;
create policy own on allocation_outages for select to gpuaas_tenant
  using (exists (select from allocations a where a.id = allocation_id));
create policy on_it on allocation_outages to gpuaas_node
  using (exists (select from allocations a where a.id = allocation_id));
create policy every on allocation_outages for select to gpuaas_operator, gpuaas_worker using (true);

alter table allocation_meters enable row level security;
create policy own on allocation_meters for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on allocation_meters to gpuaas_operator, gpuaas_worker using (true);

alter table usage_records enable row level security;
create policy own on usage_records for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on usage_records to gpuaas_operator, gpuaas_worker using (true);

alter table balance_snapshots enable row level security;
create policy own on balance_snapshots for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on balance_snapshots for select to gpuaas_operator, gpuaas_worker using (true);

create policy posts on ledger_transactions to gpuaas_worker using (true);
create policy posts on ledger_entries to gpuaas_worker using (true);
