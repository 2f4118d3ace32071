-- Every heartbeat asks for the leases of its host; without this it reads the leases of all time.
create index allocations_on_node on allocations (node_id) where state in ('active', 'releasing', 'release_failed');
