-- What screens show: built from events, never a source of truth, safe to throw away and rebuild.

create table allocation_overviews (
  allocation_id uuid primary key,
  organization_id uuid not null,
  project_id uuid not null,
  state text not null,
  stage text not null,
  status text not null,
  message text not null,
  percent smallint,
  event_position bigint not null,
  projected_at timestamptz not null
);
create index allocation_overviews_project on allocation_overviews (project_id);
