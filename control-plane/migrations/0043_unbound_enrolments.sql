-- A token may be minted before anybody knows the name of the host: any one new host may use it.
alter table node_enrolments alter hostname drop not null;
alter table node_enrolments add node_id uuid references nodes;
grant update (node_id) on node_enrolments to gpuaas_node;
