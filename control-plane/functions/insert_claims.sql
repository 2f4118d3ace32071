-- plan: by index
-- Claims on slots that the transaction has locked. A claim without a slot is on the whole node of its
-- allocation. Each keeps the devices, processors and memory that were sold.
create or replace function insert_claims(taken uuid[], claims uuid[], claimants uuid[], slots uuid[]) returns void
  language plpgsql as $$
begin
  insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, ends_at, snapshot)
    select c.id, a.id, a.node_id, case when c.slot_id is null then 'node_exclusive' else 'slot' end, c.slot_id, a.ends_at,
      case when c.slot_id is null
        then jsonb_build_object('slots', (select jsonb_agg(s.bundle || sold_profile(s) order by s.slot_index)
          from node_resource_slots s where s.node_id = a.node_id and s.id = any (taken)))
        else (select s.bundle || sold_profile(s) from node_resource_slots s where s.id = c.slot_id) end
    from unnest(claims, claimants, slots) as c (id, allocation_id, slot_id)
      join allocations a on a.id = c.allocation_id;
end $$;
