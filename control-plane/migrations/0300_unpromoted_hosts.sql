-- A host has no mode before its first promotion: only a conversion, with its evidence, makes it a host for slices or for
-- whole-node leases.

alter table nodes alter column mode drop default;
alter table nodes alter column mode drop not null;
comment on column nodes.mode is 'Null until the first promotion, which binds the devices of the host and checks it.';
alter table node_conversions alter column from_mode drop not null;
comment on column node_conversions.from_mode is 'Null for the first promotion of a host.';

-- Every new host was recorded as one for slices; an operator chose the other mode.
update nodes n set mode = null
  where n.mode = 'slice'
    and not exists (select from node_conversions c where c.node_id = n.id and c.state = 'succeeded')
    and not exists (select from node_resource_slots s where s.node_id = n.id)
    and not exists (select from allocation_resource_claims c where c.node_id = n.id and c.released_at is null);
