-- A host's heartbeat says which machines run on it; that, and nothing else, may change what is observed of them.

grant select (observed_state, active_at), update (observed_state) on allocations to gpuaas_node;

create policy observed_on_it on allocations for update to gpuaas_node
  using (node_id = (select scope_node())) with check (node_id = (select scope_node()));
