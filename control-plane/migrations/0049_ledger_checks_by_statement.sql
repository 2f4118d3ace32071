-- The same rules as before, asked once for each statement instead of once for each row: a billing tick posts hundreds of
-- transactions at a time. Entries of a transaction must balance at the end of the statement that adds them; that a
-- transaction has entries at all is still asked at commit.

create function require_whole_entries() returns trigger language plpgsql
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
revoke execute on function require_whole_entries() from public;

drop trigger ledger_entries_not_late on ledger_entries;
drop trigger ledger_entries_balanced on ledger_entries;
drop function refuse_late_entry();
create trigger ledger_entries_whole after insert on ledger_entries
  referencing new table as added for each statement execute function require_whole_entries();

create or replace function require_balanced_transaction() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from ledger_entries where transaction_id = new.id) then
    raise exception 'ledger transaction % has 0 entries that sum to 0', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
