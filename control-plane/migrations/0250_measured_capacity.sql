-- Processors and memory are held like GPUs: the approved slots of a host fit into what its discovery measured.

alter table nodes add column sellable_vcpu integer check (sellable_vcpu >= 0);
alter table nodes add column sellable_memory_gib integer check (sellable_memory_gib >= 0);
comment on column nodes.sellable_vcpu is
  'What the slots of the host may add up to: measured, less the reserve of the host. Null before its next approval of slots.';
comment on column nodes.sellable_memory_gib is
  'What the slots of the host may add up to: measured, less the reserve of the host. Null before its next approval of slots.';
grant update (sellable_vcpu, sellable_memory_gib) on nodes to gpuaas_operator;

-- What was sold is in the claim, not in the product, which may change. Slots that are held have not changed since their sale.
alter table allocation_resource_claims disable trigger user;
update allocation_resource_claims c set snapshot = c.snapshot || jsonb_build_object('vcpu', s.vcpu, 'memory_gib', s.memory_gib)
  from node_resource_slots s where s.id = c.slot_id and c.released_at is null;
alter table allocation_resource_claims enable trigger user;
