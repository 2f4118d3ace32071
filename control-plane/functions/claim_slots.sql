-- plan: by index
create or replace function claim_slots(taken uuid[], claims uuid[], claimants uuid[], slots uuid[]) returns void
  language plpgsql as $$
declare
  found_free integer;
begin
  update node_resource_slots set state = 'reserved' where id = any (taken) and state = 'available';
  get diagnostics found_free = row_count;
  if found_free <> cardinality(taken) then
    raise exception 'a slot was taken that was not for sale';
  end if;
  perform insert_claims(taken, claims, claimants, slots);
end $$;
