-- Ledger transactions come before their statement; a written statement is closed.
create or replace function refuse_late_line() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from statements s where s.id = new.statement_id) then
    raise exception 'statement % is closed', new.statement_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
