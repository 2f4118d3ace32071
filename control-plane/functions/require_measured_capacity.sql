-- The slots of a host never add up to more processors or memory than may be sold of it. The argument of the trigger names
-- the column with the host. The lock makes two approvals of one host wait for each other.
create or replace function require_measured_capacity() returns trigger language plpgsql as $$
declare
  host uuid := (to_jsonb(new) ->> tg_argv[0])::uuid;
  n record;
  held record;
begin
  select sellable_vcpu, sellable_memory_gib into n from nodes where id = host for no key update;
  select coalesce(sum(vcpu), 0) as vcpu, coalesce(sum(memory_gib), 0) as memory_gib into held
    from node_resource_slots where node_id = host and state <> 'disabled';
  if held.vcpu > n.sellable_vcpu or held.memory_gib > n.sellable_memory_gib then
    raise exception 'the slots of host % take % vCPU and % GiB, of which % vCPU and % GiB may be sold', host,
      held.vcpu, held.memory_gib, n.sellable_vcpu, n.sellable_memory_gib using errcode = 'check_violation';
  end if;
  return null;
end $$;
create or replace trigger new_slot_fits_its_host after insert on node_resource_slots
  for each row when (new.state <> 'disabled') execute function require_measured_capacity('node_id');
create or replace trigger slot_fits_its_host after update of state, vcpu, memory_gib, node_id on node_resource_slots
  for each row when (new.state <> 'disabled' and (old.state = 'disabled' or new.vcpu > old.vcpu
    or new.memory_gib > old.memory_gib or new.node_id <> old.node_id))
  execute function require_measured_capacity('node_id');
create or replace trigger host_holds_its_slots after update of sellable_vcpu, sellable_memory_gib on nodes
  for each row execute function require_measured_capacity('id');
