-- The ledger: double entry, append-only, never dropped. An amount is positive where the account gains, so the
-- entries of one transaction always sum to zero. The database holds that by itself: at commit for what is being
-- posted, and for ever after because nothing can be added to a transaction of the past.

create table ledger_transactions (
  id uuid primary key,
  -- Whose balance it moves.
  organization_id uuid not null references organizations,
  kind text not null check (kind in ('credit', 'adjustment')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- What must not be posted twice has the same key both times.
  posting_key text not null check (length(posting_key) between 1 and 200),
  reason text not null check (length(reason) between 1 and 500),
  actor_user_id uuid,
  correlation_id uuid not null,
  metadata jsonb not null default '{}',
  posted_at timestamptz not null default now(),
  xid xid8 not null default pg_current_xact_id(),
  unique (organization_id, posting_key),
  unique (id, organization_id, currency)
);
create index ledger_transactions_of_tenant on ledger_transactions (organization_id, id);

create table ledger_entries (
  id uuid primary key,
  transaction_id uuid not null,
  organization_id uuid not null,
  currency text not null,
  account text not null
    check (account in ('tenant_balance', 'revenue', 'credits', 'payments', 'adjustments', 'tax')),
  amount_micros bigint not null check (amount_micros <> 0),
  -- Entry, transaction, tenant and currency can only agree.
  foreign key (transaction_id, organization_id, currency)
    references ledger_transactions (id, organization_id, currency),
  unique (transaction_id, account)
);
-- A balance is a sum over this index alone.
create index ledger_entries_balance on ledger_entries (organization_id, account, currency) include (amount_micros);

create trigger ledger_transactions_append_only before update or delete or truncate on ledger_transactions
  for each statement execute function forbid_change();
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function forbid_change();

create function refuse_late_entry() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from ledger_transactions t where t.id = new.transaction_id and t.xid = pg_current_xact_id())
  then
    raise exception 'ledger transaction % is closed', new.transaction_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_entries_not_late before insert on ledger_entries
  for each row execute function refuse_late_entry();

create function require_balanced_transaction() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  posted uuid := case tg_table_name when 'ledger_entries' then (to_jsonb(new) ->> 'transaction_id')::uuid else new.id end;
  total numeric;
  entries bigint;
begin
  select coalesce(sum(amount_micros), 0), count(*) into total, entries
  from ledger_entries where transaction_id = posted;
  if entries < 2 or total <> 0 then
    raise exception 'ledger transaction % has % entries that sum to %', posted, entries, total
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_transactions_balanced after insert on ledger_transactions
  deferrable initially deferred for each row execute function require_balanced_transaction();
create constraint trigger ledger_entries_balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function require_balanced_transaction();

revoke execute on function refuse_late_entry(), require_balanced_transaction() from public;

grant select on ledger_transactions, ledger_entries to gpuaas_tenant, gpuaas_operator;
grant insert on ledger_transactions, ledger_entries to gpuaas_operator;

alter table ledger_transactions enable row level security;
create policy own on ledger_transactions for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on ledger_transactions to gpuaas_operator using (true);

alter table ledger_entries enable row level security;
create policy own on ledger_entries for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on ledger_entries to gpuaas_operator using (true);
