create or replace function require_whole_entries() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  late uuid;
  wrong record;
begin
  select a.transaction_id into late from added a left join ledger_transactions t on t.id = a.transaction_id
  where t.xid is distinct from pg_current_xact_id() limit 1;
  if found then
    raise exception 'ledger transaction % is closed', late using errcode = 'restrict_violation';
  end if;
  select e.transaction_id, sum(e.amount_micros) as total, count(*) as entries into wrong
  from ledger_entries e where e.transaction_id in (select transaction_id from added)
  group by 1 having sum(e.amount_micros) <> 0 or count(*) < 2 limit 1;
  if found then
    raise exception 'ledger transaction % has % entries that sum to %', wrong.transaction_id, wrong.entries, wrong.total
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
