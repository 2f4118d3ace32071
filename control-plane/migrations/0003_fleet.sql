-- Hosts, their identity, tasks and approved slots.

create table nodes (
  id uuid primary key,
  hostname text not null unique,
  region text not null references regions,
  pool text not null,
  rack text not null,
  node_family text not null,
  mode text not null default 'slice' check (mode in ('slice', 'baremetal')),
  draining boolean not null default false,
  agent_version text,
  boot_id text,
  enrolled_at timestamptz not null default now(),
  last_heartbeat_at timestamptz,
  observed jsonb not null default '{}'
);

create table node_enrolments (
  id uuid primary key,
  token_hash bytea not null unique,
  hostname text not null,
  region text not null references regions,
  pool text not null,
  rack text not null,
  node_family text not null,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table node_certificates (
  serial_number text primary key,
  node_id uuid not null references nodes,
  issued_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);

create table node_tasks (
  id uuid primary key,
  node_id uuid not null references nodes,
  kind text not null,
  params jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'claimed', 'succeeded', 'failed', 'expired')),
  epoch integer not null default 0,
  nonce text,
  signature text,
  lease_expires_at timestamptz,
  stage text,
  percent smallint check (percent between 0 and 100),
  message text,
  output jsonb,
  error jsonb,
  allocation_id uuid,
  workflow_id text,
  dedupe_key text unique,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claimed_at timestamptz,
  finished_at timestamptz
);
create index node_tasks_open on node_tasks (node_id, created_at) where state in ('queued', 'claimed');
create index node_tasks_recent on node_tasks (created_at desc, id desc);

create table node_resource_slots (
  id uuid primary key,
  node_id uuid not null references nodes,
  slot_index smallint not null check (slot_index between 0 and 15),
  state text not null check (state in ('disabled', 'available', 'reserved', 'in_use', 'cleaning', 'cleanup_blocked')),
  gpu_model text not null,
  gpu_pci_address text not null,
  fabric_vf_pci_address text not null,
  nvme_serial text not null,
  nvme_device text not null,
  management_mac text not null,
  private_ip text not null,
  ovs_port text not null,
  numa_node smallint not null,
  pcie_root text not null,
  vcpu integer not null,
  memory_gib integer not null,
  sharing_mechanism text not null default 'exclusive_device' check (sharing_mechanism = 'exclusive_device'),
  parent_slot_id uuid references node_resource_slots,
  capacity_metadata jsonb not null,
  health_state text not null default 'unknown' check (health_state in ('unknown', 'healthy', 'unhealthy')),
  health_detail text not null default '',
  last_wipe_id uuid,
  approved_at timestamptz not null default now(),
  unique (node_id, slot_index),
  unique (node_id, gpu_pci_address),
  unique (node_id, fabric_vf_pci_address),
  unique (node_id, nvme_serial),
  unique (node_id, management_mac),
  unique (node_id, private_ip),
  constraint sellable_slot_is_complete check (
    state = 'disabled' or (
      gpu_pci_address <> '' and nvme_serial <> '' and nvme_device <> '' and management_mac <> '' and private_ip <> ''
      and fabric_vf_pci_address <> ''
      and coalesce(capacity_metadata ->> 'fabric_claim_mode', '') = 'per_slot_vf'
      and coalesce(capacity_metadata ->> 'destructive_wipe_policy', '') <> ''
    )
  )
);
create index node_resource_slots_available on node_resource_slots (node_id) where state = 'available';
