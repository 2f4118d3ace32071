-- Launches that wait in line, and capacity that is kept for somebody.

create table queued_launches (
  allocation_id uuid primary key references allocations,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  max_duration_seconds integer check (max_duration_seconds > 0),
  queued_at timestamptz not null,
  expires_at timestamptz not null,
  -- Written by whoever goes through the line; position is null until then.
  position integer check (position > 0),
  reason text not null default 'not_looked_at' check (reason in ('not_looked_at', 'capacity', 'quota', 'closed')),
  detail text not null default '',
  expected_at timestamptz,
  check (expires_at > queued_at)
);
create index queued_launches_project on queued_launches (project_id);
create index queued_launches_expiry on queued_launches (expires_at);

alter table queued_launches enable row level security;
create policy own on queued_launches to gpuaas_tenant, gpuaas_placement
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on queued_launches to gpuaas_operator, gpuaas_worker using (true);
grant select on queued_launches to gpuaas_tenant, gpuaas_operator;
grant select, insert on queued_launches to gpuaas_placement;
grant select, update, delete on queued_launches to gpuaas_worker;

-- A node on which, for a time, only its holder may begin a lease: a project with a reservation, or a queued launch
-- that has waited long enough.
create table node_promises (
  id uuid primary key,
  node_id uuid not null references nodes,
  holder_id uuid not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  allocation_id uuid references allocations,
  created_at timestamptz not null default now(),
  check (ends_at > starts_at)
);
create index node_promises_node on node_promises (node_id);
create unique index node_promises_allocation on node_promises (allocation_id) where allocation_id is not null;
grant select on node_promises to gpuaas_placement, gpuaas_operator, gpuaas_worker;
grant insert, delete on node_promises to gpuaas_worker;
alter table node_promises enable row level security;
create policy every on node_promises to gpuaas_placement, gpuaas_operator, gpuaas_worker using (true);

create trigger promises_tell_placement after insert on node_promises
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger ended_promises_tell_placement after delete on node_promises
  referencing old table as changed for each statement execute function note_placement_changes();

-- The last word on promises, as the cells are on double sale. Runs as the owner: it looks at all of them.
create function respect_promises() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from changed c
      join node_promises p on p.node_id = c.node_id
      join allocations a on a.id = c.allocation_id
    where c.released_at is null and p.holder_id not in (a.id, a.project_id)
      and p.starts_at < coalesce(c.ends_at, 'infinity') and coalesce(p.ends_at, 'infinity') > now()
  ) then
    raise exception 'the node is promised to somebody else' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger claims_respect_promises after insert on allocation_resource_claims
  referencing new table as changed for each statement execute function respect_promises();

-- The end of a lease may move; everything else about a claim stays a snapshot.
create or replace function occupy_claim_cells() returns trigger
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
  if (to_jsonb(new) - 'released_at' - 'ends_at') is distinct from (to_jsonb(old) - 'released_at' - 'ends_at')
    or old.released_at is not null then
    raise exception 'a claim is a snapshot; only its end and its release may be recorded' using errcode = 'restrict_violation';
  end if;
  if new.released_at is not null then
    delete from claim_cells where claim_id = new.id;
  end if;
  return new;
end $$;
grant update (ends_at) on allocation_resource_claims to gpuaas_worker;

-- The end that the tenant was warned of; another end is worth another warning.
alter table allocations add end_warned_for timestamptz;
