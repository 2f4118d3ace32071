-- Monthly statements. Each ledger transaction is in one of them at most; a statement is written once with its
-- transactions, and from then on nothing of it changes and nothing is added.

create table statements (
  id uuid primary key,
  organization_id uuid not null references organizations,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  month date not null check (extract(day from month) = 1),
  number text not null check (length(number) <= 40),
  opening_micros bigint not null,
  closing_micros bigint not null,
  -- The statement as JSON, byte for byte as it was closed.
  document text not null,
  closed_at timestamptz not null,
  unique (organization_id, currency, month),
  unique (organization_id, number),
  unique (id, organization_id, currency)
);

create table statement_transactions (
  transaction_id uuid primary key,
  statement_id uuid not null,
  organization_id uuid not null,
  currency text not null,
  foreign key (transaction_id, organization_id, currency)
    references ledger_transactions (id, organization_id, currency),
  foreign key (statement_id, organization_id, currency)
    references statements (id, organization_id, currency) deferrable initially deferred
);
create index statement_transactions_of_statement on statement_transactions (statement_id);

create trigger statements_append_only before update or delete or truncate on statements
  for each statement execute function forbid_change();
create trigger statement_transactions_append_only before update or delete or truncate on statement_transactions
  for each statement execute function forbid_change();

-- Transactions come before their statement; when that is written, it is closed.
create function refuse_late_line() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from statements s where s.id = new.statement_id) then
    raise exception 'statement % is closed', new.statement_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
revoke execute on function refuse_late_line() from public;
create trigger statement_transactions_not_late before insert on statement_transactions
  for each row execute function refuse_late_line();

grant select on statements, statement_transactions to gpuaas_tenant, gpuaas_operator;
grant select, insert on statements, statement_transactions to gpuaas_worker;
grant select (id, name) on projects to gpuaas_worker;

alter table statements enable row level security;
create policy own on statements for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on statements to gpuaas_operator, gpuaas_worker using (true);
alter table statement_transactions enable row level security;
create policy own on statement_transactions for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on statement_transactions to gpuaas_operator, gpuaas_worker using (true);
create policy names on projects for select to gpuaas_worker using (true);
