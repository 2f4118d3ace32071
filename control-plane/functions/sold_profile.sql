-- Processors and memory that a slot is sold with.
create or replace function sold_profile(slot node_resource_slots) returns jsonb language sql immutable
  return jsonb_build_object('vcpu', (slot).vcpu, 'memory_gib', (slot).memory_gib);
