create or replace function keep_what_is_named() returns trigger language plpgsql as $$
begin
  raise exception '% are kept: what was sold names them', tg_table_name using errcode = 'foreign_key_violation';
end $$;
