import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import {
  addPerson,
  newTenant,
  withBearer,
  type Answer,
  type Schemas,
  type TestPerson,
  type TestTenant,
} from '../../harness/tenancy.ts';

type Team = Schemas['Team'];
type Project = Schemas['Project'];

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

const createTeam = ({ admin, organizationId }: TestTenant, name: string): Promise<Team> =>
  admin.post('/api/v1/teams', { organization_id: organizationId, name });

const createProject = (
  { admin, organizationId }: TestTenant,
  name: string,
  teamId?: string,
): Promise<Project> =>
  admin.post('/api/v1/projects', {
    organization_id: organizationId,
    name,
    ...(teamId === undefined ? {} : { team_id: teamId }),
  });

const teamsOf = async ({ admin, organizationId }: TestTenant): Promise<Team[]> =>
  (await admin.get<{ items: Team[] }>(`/api/v1/teams?organization_id=${organizationId}&limit=200`)).items;

async function defaultTeamOf(tenant: TestTenant): Promise<Team> {
  const [team, ...others] = (await teamsOf(tenant)).filter(({ is_default: isDefault }) => isDefault);
  expect(others).toEqual([]);
  return team!;
}

const readProject = ({ admin }: TestTenant, id: string): Promise<Project> =>
  admin.get(`/api/v1/projects/${id}`);

const place = (team: Team, person: TestPerson): string => `/api/v1/teams/${team.id}/members/${person.userId}`;

const membersOf = async ({ admin }: TestTenant, team: Team) =>
  (await admin.get<{ items: Schemas['TeamMember'][] }>(`/api/v1/teams/${team.id}/members`)).items;

async function lastAudit(action: string) {
  return await api.services.db
    .selectFrom('audit_logs')
    .select(['result', 'detail', 'before', 'after'])
    .where('action', '=', action)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
}

describe('the owning team of a project', () => {
  it('is the default team, which a new organization has from the start', async () => {
    const tenant = await newTenant(api);
    const team = await defaultTeamOf(tenant);
    expect((await readProject(tenant, tenant.projectId)).team_id).toBe(team.id);
    expect((await createProject(tenant, 'second')).team_id).toBe(team.id);
    const second = await tenant.admin.post<Schemas['Organization']>('/api/v1/organizations', {
      name: 'Second',
    });
    const opened = { ...tenant, organizationId: second.id };
    expect(await defaultTeamOf(opened)).toMatchObject({ name: 'Second', organization_id: second.id });
  });

  it('is another one if the project names it, and changes when the project moves', async () => {
    const tenant = await newTenant(api);
    const [home, team] = [await defaultTeamOf(tenant), await createTeam(tenant, 'research')];
    const project = await createProject(tenant, 'p', team.id);
    expect(project.team_id).toBe(team.id);
    const owned = await tenant.admin.get<{ items: Project[] }>(
      `/api/v1/projects?organization_id=${tenant.organizationId}&team_id=${team.id}`,
    );
    expect(owned.items.map(({ id }) => id)).toEqual([project.id]);
    const moved = await tenant.admin.ask('PATCH', `/api/v1/projects/${project.id}`, { team_id: home.id });
    expect(moved).toMatchObject({ status: 200, body: { name: 'p', team_id: home.id } });
    expect(await lastAudit('project.update')).toMatchObject({
      before: { team_id: team.id },
      after: { team_id: home.id, name: 'p' },
    });
  });

  it('is a team of the same organization, also for the database', async () => {
    const [tenant, other] = [await newTenant(api), await newTenant(api)];
    const foreign = await defaultTeamOf(other);
    const body = { organization_id: tenant.organizationId, name: 'p', team_id: foreign.id };
    const url = `/api/v1/projects/${tenant.projectId}`;
    for (const refused of [
      await tenant.admin.ask('POST', '/api/v1/projects', body),
      await tenant.admin.ask('PATCH', url, { team_id: foreign.id }),
    ]) {
      expect(refused).toMatchObject({ status: 422, body: { code: 'team_unknown' } });
    }
    const write = sql`update projects set team_id = ${foreign.id} where id = ${tenant.projectId}`;
    await expect(write.execute(api.services.db)).rejects.toThrow(/foreign key/);
    const remove = sql`update projects set team_id = null where id = ${tenant.projectId}`;
    await expect(remove.execute(api.services.db)).rejects.toThrow(/null value/);
  });

  it('gives its members no rights in the project', async () => {
    const tenant = await newTenant(api);
    const other = await createProject(tenant, 'other');
    const person = await addPerson(api, tenant, 'person', 'regular_user', other.id);
    const team = await defaultTeamOf(tenant);
    expect((await tenant.admin.ask('PUT', place(team, person))).status).toBe(204);
    await tenant.admin.ask('PATCH', place(team, person), { role: 'manager' });
    const url = `/api/v1/projects/${tenant.projectId}`;
    expect((await person.ask('GET', url)).status).toBe(403);
    expect((await person.ask('PATCH', url, { name: 'mine' })).status).toBe(403);
    expect((await person.ask('DELETE', url)).status).toBe(403);
  });
});

describe('a team that is deleted', () => {
  it('passes its projects to the team that takes over, closed ones too, and is refused without one', async () => {
    const tenant = await newTenant(api);
    const [team, successor] = [await createTeam(tenant, 'old'), await createTeam(tenant, 'new')];
    const [live, closed] = [
      await createProject(tenant, 'live', team.id),
      await createProject(tenant, 'closed', team.id),
    ];
    expect((await tenant.admin.ask('DELETE', `/api/v1/projects/${closed.id}`)).status).toBe(204);
    const url = `/api/v1/teams/${team.id}`;
    expect(await tenant.admin.ask('DELETE', url)).toMatchObject({
      status: 409,
      body: { code: 'team_owns_projects' },
    });
    const foreign = await defaultTeamOf(await newTenant(api));
    for (const unfit of [foreign.id, team.id]) {
      expect(await tenant.admin.ask('DELETE', `${url}?transfer_to=${unfit}`)).toMatchObject({
        status: 422,
        body: { code: 'team_unknown' },
      });
    }
    expect((await readProject(tenant, live.id)).team_id).toBe(team.id);
    expect((await tenant.admin.ask('DELETE', `${url}?transfer_to=${successor.id}`)).status).toBe(204);
    expect((await tenant.admin.ask('GET', url)).status).toBe(404);
    const rows = await api.services.db
      .selectFrom('projects')
      .select('team_id')
      .where('id', 'in', [live.id, closed.id])
      .execute();
    expect(rows).toEqual([{ team_id: successor.id }, { team_id: successor.id }]);
    expect(await lastAudit('team.delete')).toMatchObject({
      detail: { name: 'old', transfer_to: successor.id, projects: 1 },
    });
  });

  it('and its successor, deleted concurrently in favour of each other, leave one of them with all projects', async () => {
    const tenant = await newTenant(api);
    for (const round of [1, 2, 3, 4, 5, 6]) {
      const [a, b] = [await createTeam(tenant, `a${round}`), await createTeam(tenant, `b${round}`)];
      const projects = [
        await createProject(tenant, `of a${round}`, a.id),
        await createProject(tenant, `of b${round}`, b.id),
      ];
      const answers = await Promise.all([
        tenant.admin.ask('DELETE', `/api/v1/teams/${a.id}?transfer_to=${b.id}`),
        tenant.admin.ask('DELETE', `/api/v1/teams/${b.id}?transfer_to=${a.id}`),
      ]);
      expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([204, 422]);
      const left = answers[0].status === 204 ? b : a;
      for (const { id } of projects) expect((await readProject(tenant, id)).team_id).toBe(left.id);
    }
  });

  it('needs no successor if it owns only closed projects', async () => {
    const tenant = await newTenant(api);
    const team = await createTeam(tenant, 'old');
    const closed = await createProject(tenant, 'closed', team.id);
    expect((await tenant.admin.ask('DELETE', `/api/v1/projects/${closed.id}`)).status).toBe(204);
    expect((await tenant.admin.ask('DELETE', `/api/v1/teams/${team.id}`)).status).toBe(204);
  });

  it('is not moved by a person without project.manage in the organization', async () => {
    const tenant = await newTenant(api);
    const [team, home] = [await createTeam(tenant, 'old'), await defaultTeamOf(tenant)];
    await createProject(tenant, 'p', team.id);
    const group = await tenant.admin.post<Schemas['PermissionGroup']>('/api/v1/permission-groups', {
      organization_id: tenant.organizationId,
      name: 'people',
      permissions: ['member.read', 'member.manage'],
    });
    const person = await addPerson(api, tenant, 'person', group.id);
    const url = `/api/v1/teams/${team.id}?transfer_to=${home.id}`;
    expect(await person.ask('DELETE', url)).toMatchObject({
      status: 403,
      body: { permission: 'project.manage' },
    });
    expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
  });

  it('is not the default one, which can be renamed and replaced', async () => {
    const tenant = await newTenant(api);
    const [home, team] = [await defaultTeamOf(tenant), await createTeam(tenant, 'next')];
    const url = `/api/v1/teams/${home.id}`;
    expect(await tenant.admin.ask('DELETE', `${url}?transfer_to=${team.id}`)).toMatchObject({
      status: 409,
      body: { code: 'default_team_required' },
    });
    expect(await tenant.admin.ask('PATCH', url, { name: 'Everybody' })).toMatchObject({
      status: 200,
      body: { name: 'Everybody', is_default: true },
    });
    expect(await tenant.admin.ask('PATCH', `/api/v1/teams/${team.id}`, { is_default: true })).toMatchObject({
      status: 200,
      body: { name: 'next', is_default: true },
    });
    expect((await defaultTeamOf(tenant)).id).toBe(team.id);
    expect((await createProject(tenant, 'later')).team_id).toBe(team.id);
    expect((await tenant.admin.ask('DELETE', `${url}?transfer_to=${team.id}`)).status).toBe(204);
    expect((await readProject(tenant, tenant.projectId)).team_id).toBe(team.id);
  });

  it('stays with its organization when that is closed', async () => {
    const tenant = await newTenant(api);
    await createProject(tenant, 'p', (await createTeam(tenant, 'research')).id);
    const url = `/api/v1/organizations/${tenant.organizationId}`;
    expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
    const { rows } = await sql<{ projects: number }>`select count(*)::int as projects from projects p
      join teams t on t.id = p.team_id and t.organization_id = p.organization_id
      where p.organization_id = ${tenant.organizationId}`.execute(api.services.db);
    expect(rows).toEqual([{ projects: 2 }]);
  });
});

describe('the manager of a team', () => {
  async function withManager() {
    const tenant = await newTenant(api);
    const [team, other] = [await createTeam(tenant, 'managed'), await createTeam(tenant, 'other')];
    const manager = await addPerson(api, tenant, 'manager', 'regular_user', tenant.projectId);
    const person = await addPerson(api, tenant, 'person', 'regular_user', tenant.projectId);
    expect((await tenant.admin.ask('PUT', place(team, manager))).status).toBe(204);
    expect((await manager.ask('PUT', place(team, person))).status).toBe(403);
    expect(await tenant.admin.ask('PATCH', place(team, manager), { role: 'manager' })).toMatchObject({
      status: 200,
      body: { user_id: manager.userId, role: 'manager' },
    });
    expect(await lastAudit('team.update_member')).toMatchObject({
      result: 'succeeded',
      detail: { user_id: manager.userId, before: 'member', after: 'manager' },
    });
    return { tenant, team, other, manager, person };
  }

  it('adds and removes its members and changes their roles', async () => {
    const { tenant, team, manager, person } = await withManager();
    expect((await manager.ask('PUT', place(team, person))).status).toBe(204);
    expect((await manager.ask('PATCH', place(team, person), { role: 'manager' })).status).toBe(200);
    const listed = await manager.get<{ items: Schemas['TeamMember'][] }>(`/api/v1/teams/${team.id}/members`);
    expect(listed.items.map(({ role }) => role)).toEqual(['manager', 'manager']);
    // Adding a member again keeps the role.
    expect((await person.ask('PUT', place(team, manager))).status).toBe(204);
    expect((await membersOf(tenant, team)).map(({ role }) => role)).toEqual(['manager', 'manager']);
    expect((await person.ask('PATCH', place(team, manager), { role: 'member' })).status).toBe(200);
    expect((await manager.ask('DELETE', place(team, person))).status).toBe(403);
    expect((await person.ask('DELETE', place(team, manager))).status).toBe(204);
    expect((await membersOf(tenant, team)).map(({ user_id: id }) => id)).toEqual([person.userId]);
  });

  it('may do nothing else, there or elsewhere', async () => {
    const { tenant, team, other, manager, person } = await withManager();
    const organization = { organization_id: tenant.organizationId };
    const refused: Answer[] = [
      await manager.ask('PATCH', `/api/v1/teams/${team.id}`, { name: 'mine' }),
      await manager.ask('DELETE', `/api/v1/teams/${team.id}`),
      await manager.ask('PUT', place(other, person)),
      await manager.ask('PATCH', place(other, person), { role: 'manager' }),
      await manager.ask('GET', `/api/v1/teams/${other.id}`),
      await manager.ask('POST', '/api/v1/teams', { ...organization, name: 'new' }),
      await manager.ask('GET', `/api/v1/members?organization_id=${tenant.organizationId}`),
      await manager.ask('POST', `/api/v1/members/${person.memberId}/disable`),
      await manager.ask('POST', '/api/v1/invitations', {
        ...organization,
        email: 'x@example.test',
        permission_group: 'regular_user',
        project_id: tenant.projectId,
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    const [own] = (await manager.get<Schemas['Me']>('/api/v1/me')).organizations;
    expect(own!.permissions).toEqual([]);
  });

  it('passes on the rights of the team, which others cannot give without holding them', async () => {
    const { tenant, team, manager, person } = await withManager();
    const binding = await tenant.admin.ask('POST', '/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      permission_group: 'auditor',
      holder: { type: 'team', id: team.id },
    });
    expect(binding.status).toBe(201);
    // Members hold the rights of the team, so its manager can pass them on.
    const group = await tenant.admin.post<Schemas['PermissionGroup']>('/api/v1/permission-groups', {
      organization_id: tenant.organizationId,
      name: 'people',
      permissions: ['member.read', 'member.manage'],
    });
    const outsider = await addPerson(api, tenant, 'outsider', group.id);
    for (const refused of [
      await outsider.ask('PUT', place(team, person)),
      await outsider.ask('PATCH', place(team, manager), { role: 'member' }),
    ]) {
      expect(refused).toMatchObject({ status: 403, body: { code: 'exceeds_own_rights' } });
    }
    expect((await manager.ask('PUT', place(team, person))).status).toBe(204);
  });

  it('acts with a key only within its scopes, and not with a disabled membership', async () => {
    const { tenant, team, manager, person } = await withManager();
    const key = async (scopes?: string[]) => {
      const made = await manager.post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', {
        organization_id: tenant.organizationId,
        name: crypto.randomUUID(),
        ...(scopes ? { scopes } : {}),
      });
      return withBearer(api, made.secret!);
    };
    const [narrow, whole] = [await key(['allocation.read']), await key()];
    expect((await narrow.ask('PUT', place(team, person))).status).toBe(403);
    expect((await whole.ask('PUT', place(team, person))).status).toBe(204);
    await tenant.admin.ask('POST', `/api/v1/members/${manager.memberId}/disable`);
    expect([401, 403, 404]).toContain((await manager.ask('DELETE', place(team, person))).status);
    expect((await membersOf(tenant, team)).map(({ user_id: id }) => id)).toContain(person.userId);
  });
});

const step = fc.record({
  deed: fc.constantFrom(
    'create',
    'create',
    'move',
    'move',
    'close',
    'team',
    'team',
    'delete',
    'transfer',
    'default',
  ),
  project: fc.nat(50),
  team: fc.nat(50),
  successor: fc.nat(50),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface World extends TestTenant {
  projects: string[];
  teams: string[];
}

const at = (list: readonly string[], pick: number): string => list[pick % list.length]!;

async function take(world: World, { deed, project, team, successor }: Step): Promise<Answer<{ id: string }>> {
  const { admin, organizationId: organization_id } = world;
  const [teamId, projectUrl] = [at(world.teams, team), `/api/v1/projects/${at(world.projects, project)}`];
  const name = crypto.randomUUID();
  switch (deed) {
    case 'create':
      return await admin.ask('POST', '/api/v1/projects', { organization_id, name, team_id: teamId });
    case 'move':
      return await admin.ask('PATCH', projectUrl, { team_id: teamId });
    case 'close':
      return await admin.ask('DELETE', projectUrl);
    case 'team':
      return await admin.ask('POST', '/api/v1/teams', { organization_id, name });
    case 'delete':
      return await admin.ask('DELETE', `/api/v1/teams/${teamId}`);
    case 'transfer':
      return await admin.ask('DELETE', `/api/v1/teams/${teamId}?transfer_to=${at(world.teams, successor)}`);
    case 'default':
      return await admin.ask('PATCH', `/api/v1/teams/${teamId}`, { is_default: true });
  }
}

it('every project has one team of its organization, and that one default team, whatever admins do together', async () => {
  const done = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const tenant = await newTenant(api);
      const world: World = {
        ...tenant,
        projects: [tenant.projectId],
        teams: [(await defaultTeamOf(tenant)).id],
      };
      // Two at a time, so that they meet.
      for (let first = 0; first < steps.length; first += 2) {
        const pair = steps.slice(first, first + 2);
        const known = world.teams;
        for (const [index, answer] of (await Promise.all(pair.map((one) => take(world, one)))).entries()) {
          const { deed } = pair[index]!;
          expect(answer.status, `${deed}: ${answer.text}`).toBeLessThan(500);
          if (answer.status >= 300) continue;
          done.set(deed, (done.get(deed) ?? 0) + 1);
          if (deed === 'create') world.projects.push(answer.body.id);
          if (deed === 'team') world.teams = [...world.teams, answer.body.id];
          if (deed === 'delete' || deed === 'transfer') {
            const gone = at(known, pair[index]!.team);
            world.teams = world.teams.filter((id) => id !== gone);
          }
        }
        const { rows } = await sql<{ homeless: number; defaults: number }>`select
          (select count(*)::int from projects p where p.organization_id = ${tenant.organizationId} and not exists (
            select from teams t where t.id = p.team_id and t.organization_id = p.organization_id)) as homeless,
          (select count(*)::int from teams t
            where t.organization_id = ${tenant.organizationId} and t.is_default) as defaults`.execute(
          api.services.db,
        );
        expect(rows).toEqual([{ homeless: 0, defaults: 1 }]);
      }
    }),
    { numRuns: 8 },
  );
  for (const deed of ['create', 'move', 'team', 'transfer', 'default'])
    expect(done.get(deed)).toBeGreaterThan(0);
}, 240_000);
