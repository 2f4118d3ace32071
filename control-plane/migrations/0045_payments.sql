-- Money that comes, goes back, or is disputed. What the provider calls a thing is kept beside it, each name once; the
-- ledger has one transaction for each of them. Card numbers never come here: a provider's token and its label do.

alter table organizations add column stripe_customer_id text unique check (length(stripe_customer_id) <= 255);

create table payment_methods (
  id uuid primary key,
  organization_id uuid not null references organizations,
  provider text not null check (provider in ('stripe', 'test')),
  provider_ref text not null,
  label text not null check (length(label) between 1 and 100),
  created_at timestamptz not null,
  removed_at timestamptz,
  unique (organization_id, provider, provider_ref),
  unique (id, organization_id)
);

create table payments (
  id uuid primary key,
  organization_id uuid not null references organizations,
  provider text not null check (provider in ('stripe', 'test', 'manual')),
  purpose text not null check (purpose in ('top_up', 'auto_top_up', 'received')),
  state text not null check (state in ('created', 'open', 'processing', 'succeeded', 'failed', 'expired')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_micros bigint not null check (amount_micros > 0),
  received_micros bigint check (received_micros > 0),
  -- A kept method is charged; without one somebody pays at the provider's page.
  payment_method_id uuid,
  keep_method boolean not null default false,
  checkout_ref text,
  payment_ref text,
  checkout_url text,
  expires_at timestamptz,
  note text check (length(note) <= 300),
  failure_code text,
  failure_detail text,
  ledger_transaction_id uuid unique,
  created_by uuid,
  correlation_id uuid not null,
  created_at timestamptz not null,
  settled_at timestamptz,
  -- When the provider is asked again; nobody asks for what is over.
  next_look_at timestamptz,
  looks integer not null default 0,
  unique (id, organization_id),
  unique (provider, checkout_ref),
  foreign key (payment_method_id, organization_id) references payment_methods (id, organization_id),
  foreign key (ledger_transaction_id, organization_id, currency)
    references ledger_transactions (id, organization_id, currency),
  constraint payment_is_credited_when_it_came
    check ((state = 'succeeded') = (ledger_transaction_id is not null)
      and (state = 'succeeded') = (received_micros is not null)),
  constraint payment_is_looked_at_until_it_is_over
    check ((state in ('created', 'open', 'processing')) = (next_look_at is not null)),
  constraint payment_is_settled_when_it_is_over
    check ((state in ('created', 'open', 'processing')) = (settled_at is null))
);
create unique index payments_provider_ref on payments (provider, payment_ref) where provider <> 'manual';
create unique index payments_received_once on payments (organization_id, payment_ref) where provider = 'manual';
create index payments_of_tenant on payments (organization_id, id);
create index payments_to_look_at on payments (next_look_at) where next_look_at is not null;

-- News may come in any order: a payment moves forward, and what is over stays so.
create function keep_payment_order() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  ways text[] := array['created', 'open', 'processing'];
begin
  if new.state <> old.state and (not old.state = any (ways)
      or array_position(ways, new.state) < array_position(ways, old.state)) then
    raise exception 'a payment that is % does not become %', old.state, new.state using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger payments_move_forward before update on payments for each row execute function keep_payment_order();

create table payment_refunds (
  id uuid primary key,
  organization_id uuid not null,
  payment_id uuid not null,
  provider_ref text unique,
  -- A refund that succeeded may still fail at the bank, days later.
  state text not null check (state in ('requested', 'pending', 'succeeded', 'failed')),
  amount_micros bigint not null check (amount_micros > 0),
  reason text not null check (length(reason) between 1 and 400),
  requested_by uuid,
  ledger_transaction_id uuid not null unique references ledger_transactions,
  -- What came back to the balance because it could not be given back.
  returned_transaction_id uuid unique references ledger_transactions,
  created_at timestamptz not null,
  settled_at timestamptz,
  next_look_at timestamptz,
  looks integer not null default 0,
  foreign key (payment_id, organization_id) references payments (id, organization_id),
  check ((state = 'failed') = (returned_transaction_id is not null))
);
create index payment_refunds_of_payment on payment_refunds (payment_id, id);
create index payment_refunds_to_look_at on payment_refunds (next_look_at) where next_look_at is not null;

create table payment_disputes (
  id uuid primary key,
  organization_id uuid not null,
  payment_id uuid not null,
  provider_ref text not null unique,
  state text not null check (state in ('open', 'won', 'lost')),
  amount_micros bigint not null check (amount_micros > 0),
  reason text not null check (length(reason) between 1 and 100),
  withdrawn_transaction_id uuid not null unique references ledger_transactions,
  returned_transaction_id uuid unique references ledger_transactions,
  opened_at timestamptz not null,
  closed_at timestamptz,
  foreign key (payment_id, organization_id) references payments (id, organization_id),
  check ((state = 'won') = (returned_transaction_id is not null)),
  check ((state = 'open') = (closed_at is null))
);
create index payment_disputes_of_payment on payment_disputes (payment_id, id);

create table auto_top_ups (
  organization_id uuid primary key references organizations,
  enabled boolean not null,
  payment_method_id uuid not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  threshold_micros bigint not null check (threshold_micros > 0),
  amount_micros bigint not null check (amount_micros > 0),
  monthly_cap_micros bigint not null check (monthly_cap_micros >= amount_micros),
  waits_until timestamptz,
  last_failure text check (length(last_failure) <= 500),
  updated_at timestamptz not null,
  foreign key (payment_method_id, organization_id) references payment_methods (id, organization_id)
);

-- What the provider told, each once. Nothing of its content is kept but which payment it is about.
create table payment_events (
  provider text not null check (provider in ('stripe')),
  event_ref text not null check (length(event_ref) <= 255),
  type text not null check (length(type) <= 255),
  about jsonb not null,
  received_at timestamptz not null,
  handled_at timestamptz,
  next_try_at timestamptz,
  tries integer not null default 0,
  primary key (provider, event_ref),
  check ((handled_at is null) = (next_try_at is not null))
);
create index payment_events_open on payment_events (next_try_at) where handled_at is null;

-- What the test provider remembers, as a real one would on its side.
create table test_charges (
  payment_id uuid primary key,
  card text not null,
  state text not null check (state in ('succeeded', 'failed')),
  charged_at timestamptz not null
);

grant select, insert on payments to gpuaas_tenant, gpuaas_operator;
grant select on payment_methods, payment_refunds, payment_disputes to gpuaas_tenant, gpuaas_operator;
grant update (removed_at) on payment_methods to gpuaas_tenant;
grant insert on payment_refunds to gpuaas_operator;
-- Locked by whoever refunds.
grant update (note) on payments to gpuaas_operator;
grant select, insert, update on auto_top_ups to gpuaas_tenant;
grant select, insert, update on payments, payment_methods, payment_refunds, payment_disputes, payment_events, test_charges
  to gpuaas_worker;
grant select, update (enabled, waits_until, last_failure) on auto_top_ups to gpuaas_worker;
grant select (id, name, stripe_customer_id), update (stripe_customer_id) on organizations to gpuaas_worker;

alter table payments enable row level security;
create policy own on payments to gpuaas_tenant using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on payments to gpuaas_operator, gpuaas_worker using (true);
alter table payment_methods enable row level security;
create policy own on payment_methods to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on payment_methods to gpuaas_operator, gpuaas_worker using (true);
alter table payment_refunds enable row level security;
create policy own on payment_refunds for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on payment_refunds to gpuaas_operator, gpuaas_worker using (true);
alter table payment_disputes enable row level security;
create policy own on payment_disputes for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on payment_disputes to gpuaas_operator, gpuaas_worker using (true);
alter table auto_top_ups enable row level security;
create policy own on auto_top_ups to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on auto_top_ups to gpuaas_worker using (true);
create policy customers on organizations to gpuaas_worker using (true);
