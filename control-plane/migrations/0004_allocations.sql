-- Leases, their claims and the proof that lets a slot be sold again.

create table allocations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  name text not null,
  sku text not null references sku_catalog,
  capacity_shape text not null default 'baremetal' check (capacity_shape in ('baremetal', 'gpu_slice')),
  gpu_count smallint not null check (gpu_count between 1 and 16),
  image text not null references images,
  image_digest text not null,
  region text not null references regions,
  state text not null check (state in
    ('queued', 'reserved', 'provisioning', 'active', 'releasing', 'released', 'failed', 'release_failed')),
  desired_state text not null default 'active' check (desired_state in ('active', 'released')),
  observed_state text not null default 'unknown' check (observed_state in ('unknown', 'absent', 'running')),
  execution_state text not null default 'idle',
  node_id uuid references nodes,
  currency text not null,
  per_gpu_hour_micros bigint not null check (per_gpu_hour_micros >= 0),
  price_id uuid not null references sku_prices,
  created_by uuid not null references users,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  active_at timestamptz,
  release_requested_at timestamptz,
  release_attempts integer not null default 0,
  released_at timestamptz,
  failure jsonb,
  connection jsonb,
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create index allocations_project on allocations (project_id, id desc);

create table allocation_resource_claims (
  id uuid primary key,
  allocation_id uuid not null references allocations,
  node_id uuid not null references nodes,
  claim_kind text not null check (claim_kind in ('node_exclusive', 'slot')),
  slot_id uuid references node_resource_slots,
  snapshot jsonb not null,
  created_at timestamptz not null default now(),
  released_at timestamptz,
  check ((claim_kind = 'slot') = (slot_id is not null))
);
create index allocation_resource_claims_allocation on allocation_resource_claims (allocation_id);
create index allocation_resource_claims_slot on allocation_resource_claims (slot_id, created_at desc);

-- The last word on double sale: a live claim occupies cells of its node, a node claim all sixteen, and two claims
-- cannot hold one cell. A plain unique index does what an exclusion constraint would, at a fifth of its price.
create table claim_cells (
  node_id uuid not null references nodes,
  cell smallint not null check (cell between 0 and 15),
  claim_id uuid not null references allocation_resource_claims,
  primary key (node_id, cell)
);
create index claim_cells_claim on claim_cells (claim_id);

-- Cells are written here and nowhere else, so it runs as the owner.
create function occupy_claim_cells() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if new.released_at is not null then
      return new;
    end if;
    if new.claim_kind = 'node_exclusive' then
      insert into claim_cells (node_id, cell, claim_id)
        select new.node_id, cell, new.id from generate_series(0, 15) as cell;
    else
      insert into claim_cells (node_id, cell, claim_id)
        select s.node_id, s.slot_index, new.id from node_resource_slots s
        where s.id = new.slot_id and s.node_id = new.node_id;
      if not found then
        raise exception 'claim names a slot of another node' using errcode = 'foreign_key_violation';
      end if;
    end if;
    return new;
  end if;
  if (to_jsonb(new) - 'released_at') is distinct from (to_jsonb(old) - 'released_at') or old.released_at is not null then
    raise exception 'a claim is a snapshot; only its release may be recorded' using errcode = 'restrict_violation';
  end if;
  if new.released_at is not null then
    delete from claim_cells where claim_id = new.id;
  end if;
  return new;
end $$;
create trigger claims_occupy_cells after insert or update on allocation_resource_claims
  for each row execute function occupy_claim_cells();
create trigger claims_are_kept before delete or truncate on allocation_resource_claims
  for each statement execute function forbid_change();

create table wipe_certificates (
  id uuid primary key,
  allocation_id uuid not null references allocations,
  slot_id uuid not null references node_resource_slots,
  slot_index smallint not null,
  node_task_id uuid not null references node_tasks,
  device_serial text not null,
  method text not null,
  verified boolean not null,
  verification text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  unique (node_task_id, slot_id)
);
create index wipe_certificates_allocation on wipe_certificates (allocation_id);
create trigger wipe_certificates_append_only before update or delete or truncate on wipe_certificates
  for each statement execute function forbid_change();

alter table node_resource_slots
  add foreign key (last_wipe_id) references wipe_certificates;

-- No path leads to `available` without a verified wipe of the last tenant's data. Runs as the owner: a writer who
-- cannot see the last claim would pass for one without any.
create function require_wipe_before_resale() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  last_allocation uuid;
begin
  select allocation_id into last_allocation from allocation_resource_claims
    where slot_id = new.id order by created_at desc, id desc limit 1;
  if last_allocation is not null and not exists (
    select 1 from wipe_certificates w
    where w.id = new.last_wipe_id and w.slot_id = new.id and w.allocation_id = last_allocation and w.verified
  ) then
    raise exception 'slot % has no verified wipe for allocation %', new.id, last_allocation
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger slots_need_wipe before insert or update on node_resource_slots
  for each row when (new.state = 'available') execute function require_wipe_before_resale();

-- The gateway's own login for web terminals: made per allocation, sealed, destroyed at release.
create table allocation_access_keys (
  allocation_id uuid primary key references allocations,
  public_key text not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null default now()
);

create table terminal_tokens (
  token_hash bytea primary key,
  allocation_id uuid not null references allocations,
  user_id uuid not null references users,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
