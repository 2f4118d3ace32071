create or replace function refuse_claim_change() returns trigger language plpgsql as $$
begin
  raise exception 'a claim is a snapshot; only its end and its release may be recorded' using errcode = 'restrict_violation';
end $$;
