-- Every project belongs to one team of its organization. An organization has one default team for that.
alter table teams add is_default boolean not null default false;
create unique index teams_one_default on teams (organization_id) where is_default;

-- It carries the organization's name, or another one where a team of that name exists.
insert into teams (id, organization_id, name, is_default)
select gen_random_uuid(), o.id, (
  select c.name from unnest(array[o.name, left(o.name, 190) || ' default', 'Default team ' || o.id])
    with ordinality as c (name, preference)
  where not exists (select from teams t where t.organization_id = o.id and t.name = c.name)
  order by c.preference limit 1), true
from organizations o;

alter table projects add team_id uuid;
update projects p set team_id = t.id from teams t where t.organization_id = p.organization_id and t.is_default;
-- Checked at commit: a team and its projects can change in any order.
alter table projects
  alter team_id set not null,
  add foreign key (organization_id, team_id) references teams (organization_id, id) deferrable initially deferred;
create index projects_team on projects (team_id);

-- A manager changes the members of the team.
alter table team_members add role text not null default 'member',
  add constraint team_members_role_check check (role in ('member', 'manager'));

grant update (is_default) on teams to gpuaas_tenant;
grant update (role) on team_members to gpuaas_tenant;
grant update (team_id) on projects to gpuaas_tenant;

-- A new organization gets its default team in the transaction that opens it.
grant insert on teams to gpuaas_auth;
create policy opening on teams for insert to gpuaas_auth with check (is_default);
-- A deleted team hands over its closed projects, too, which tenants do not see.
grant select (organization_id, team_id), update (team_id) on projects to gpuaas_auth;
