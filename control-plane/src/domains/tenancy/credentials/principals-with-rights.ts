const bindingsWhere = (holder: string, managedTeams = ''): string => `coalesce((
    select json_agg(json_build_object('group', r.name, 'permissions', r.permissions, 'scope', r.scope,
      'organizationId', r.organization_id, 'projectId', r.project_id, 'teamId', r.team_id))
    from (
      select coalesce(b.permission_group, g.name) as name, g.permissions, b.scope, b.organization_id, b.project_id,
        null::uuid as team_id
      from permission_bindings b left join permission_groups g on g.id = b.permission_group_id
      where ${holder} ${managedTeams}) r), '[]')`;

const TEAMS_MANAGED_BY_USER = `union all
      select 'team_manager', null, 'team', t.organization_id, null, t.team_id
      from team_members t join organization_members m on m.organization_id = t.organization_id and m.user_id = t.user_id
      where t.user_id = u.id and t.role = 'manager' and m.state = 'active'`;

/** Columns of a `PrincipalRow` for the user `u`: own bindings, those of teams, and teams managed, of active memberships. */
export const USER_WITH_RIGHTS = `u.id, u.id as user_id, u.id as owner_user_id, u.email, u.name,
  coalesce((select json_agg(m.organization_id) from organization_members m
    where m.user_id = u.id and m.state = 'active'), '[]') as organizations,
  ${bindingsWhere(
    `(b.user_id = u.id or b.team_id in (select t.team_id from team_members t where t.user_id = u.id))
      and (b.organization_id is null or exists (select from organization_members m
        where m.organization_id = b.organization_id and m.user_id = u.id and m.state = 'active'))`,
    TEAMS_MANAGED_BY_USER,
  )} as bindings`;

/** Columns of a `PrincipalRow` for the service account `s`. */
export const SERVICE_ACCOUNT_WITH_RIGHTS = `s.id, null as user_id, s.owner_user_id, '' as email, s.name,
  json_build_array(s.organization_id) as organizations, ${bindingsWhere('b.service_account_id = s.id')} as bindings`;
