import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tenantPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import { permissionsAt, type Scope } from '@gpuaas/control-plane/platform/auth/caller';
import { USER_WITH_RIGHTS } from '@gpuaas/control-plane/domains/tenancy/credentials/principals-with-rights';
import { grantedBindings, type PrincipalRow } from '@gpuaas/control-plane/platform/auth/granted-bindings';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { newTenant, signUp, type Schemas, type TestPerson, type TestTenant } from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

const PERMISSIONS = Object.keys(tenantPermissions);
const BUILT_IN = ['regular_user', 'project_admin', 'tenant_admin', 'billing_admin', 'auditor'];
const PEOPLE = 4;

/** All operations that change permissions of others. Numbers pick among existing resources. */
const step = fc.record({
  actor: fc.nat(PEOPLE - 1),
  who: fc.nat(PEOPLE - 1),
  pick: fc.nat(30),
  atProject: fc.boolean(),
  toTeam: fc.boolean(),
  permissions: fc.subarray(PERMISSIONS, { minLength: 1, maxLength: 8 }),
  deed: fc.constantFrom(
    'bind',
    'bind',
    'unbind',
    'make',
    'edit',
    'drop',
    'join',
    'quit',
    'promote',
    'disable',
    'disable',
    'enable',
    'enable',
    'remove',
  ),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface World extends TestTenant {
  people: TestPerson[];
  memberIds: string[];
  teamId: string;
  groupIds: string[];
}

async function newWorld(): Promise<World> {
  const tenant = await newTenant(api);
  const { admin, organizationId } = tenant;
  const delegates = await makeGroup(admin, organizationId, 'delegates', [
    'member.read',
    'member.manage',
    'access.read',
    'access.manage',
    'allocation.read',
  ]);
  const team = await admin.post<Schemas['Team']>('/api/v1/teams', {
    organization_id: organizationId,
    name: 'team',
  });
  const people = [admin];
  const groups = [delegates, 'project_admin', 'auditor'];
  const { items } = await admin.get<{ items: Schemas['Member'][] }>(
    `/api/v1/members?organization_id=${organizationId}`,
  );
  const memberIds = [items[0]!.id];
  for (const group of groups) {
    // With their own tenant their sign-ins stay valid, whatever happens in this one.
    const person = await signUp(api, 'person');
    const { token } = await admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
      organization_id: organizationId,
      email: person.email,
      permission_group: group,
      ...(group === 'project_admin' ? { project_id: tenant.projectId } : {}),
    });
    const joined = await person.post<Schemas['AcceptedInvitation']>('/api/v1/invitations/accept', { token });
    people.push(person);
    memberIds.push(joined.member_id);
  }
  return { ...tenant, people, memberIds, teamId: team.id, groupIds: [delegates] };
}

async function makeGroup(person: TestPerson, organizationId: string, name: string, permissions: string[]) {
  const body = { organization_id: organizationId, name, permissions };
  return (await person.post<Schemas['PermissionGroup']>('/api/v1/permission-groups', body)).id;
}

const at = <T>(list: readonly T[], pick: number): T => list[pick % list.length]!;

/** Whether it was done. */
async function take(
  world: World,
  { actor, who, pick, atProject, toTeam, permissions, deed }: Step,
): Promise<boolean> {
  const person = world.people[actor]!;
  const organization_id = world.organizationId;
  const member = `/api/v1/members/${world.memberIds[who]}`;
  const place = `/api/v1/teams/${world.teamId}/members/${world.people[who]!.userId}`;
  const group = at(world.groupIds, pick);
  switch (deed) {
    case 'bind':
      return done(
        await person.ask('POST', '/api/v1/permission-bindings', {
          organization_id,
          permission_group: at([...BUILT_IN, ...world.groupIds], pick),
          holder: toTeam
            ? { type: 'team', id: world.teamId }
            : { type: 'user', id: world.people[who]!.userId },
          ...(atProject ? { project_id: world.projectId } : {}),
        }),
      );
    case 'unbind': {
      const { rows } = await sql<{ id: string }>`select id from permission_bindings
        where organization_id = ${organization_id} order by id`.execute(api.services.db);
      return done(await person.ask('DELETE', `/api/v1/permission-bindings/${at(rows, pick).id}`));
    }
    case 'make': {
      const body = { organization_id, name: crypto.randomUUID(), permissions };
      const made = await person.ask<Schemas['PermissionGroup']>('POST', '/api/v1/permission-groups', body);
      if (done(made)) world.groupIds.push(made.body.id);
      return done(made);
    }
    case 'edit':
      return done(await person.ask('PATCH', `/api/v1/permission-groups/${group}`, { permissions }));
    case 'drop': {
      if (world.groupIds.length === 1) return false;
      const gone = done(await person.ask('DELETE', `/api/v1/permission-groups/${group}`));
      if (gone) world.groupIds = world.groupIds.filter((id) => id !== group);
      return gone;
    }
    case 'join':
      return done(await person.ask('PUT', place));
    case 'quit':
      return done(await person.ask('DELETE', place));
    case 'promote':
      return done(await person.ask('PATCH', place, { role: 'manager' }));
    case 'disable':
    case 'enable':
      return done(await person.ask('POST', `${member}/${deed}`));
    case 'remove':
      return done(await person.ask('DELETE', member));
  }
}

/** Refusals are fine; failures are not. */
function done({ status, text }: { status: number; text: string }): boolean {
  expect(status, text).toBeLessThan(500);
  return status < 300;
}

/** Permissions of each person: at the tenant, and at its project. */
async function rightsOf({ people, organizationId, projectId }: World): Promise<Set<string>[][]> {
  const { rows } = await sql<PrincipalRow>`select ${sql.raw(USER_WITH_RIGHTS)} from users u
    where u.id = any (${people.map((person) => person.userId)}::uuid[])`.execute(api.services.db);
  const scopes: Scope[] = [
    { kind: 'tenant', organizationId },
    { kind: 'project', organizationId, projectId },
  ];
  return people.map((person) => {
    const bindings = grantedBindings(rows.find((row) => row.id === person.userId)!.bindings, null);
    return scopes.map((scope) => permissionsAt(bindings, scope) as Set<string>);
  });
}

it('whatever people do, nobody gains or loses what the doer does not hold, and an active admin is left', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30 }), async (steps) => {
      const world = await newWorld();
      let before = await rightsOf(world);
      for (const next of steps) {
        if (!(await take(world, next))) continue;
        taken += 1;
        const after = await rightsOf(world);
        for (const [person, scopes] of after.entries()) {
          for (const [scope, held] of scopes.entries()) {
            const had = before[person]![scope]!;
            const doer = before[next.actor]![scope]!;
            const unearned = [...held].filter((name) => !had.has(name) && !doer.has(name));
            expect(unearned, JSON.stringify(next)).toEqual([]);
            // A membership ends as a whole; what is taken one by one must be the doer's to give.
            if (!['unbind', 'edit', 'drop', 'quit'].includes(next.deed)) continue;
            const robbed = [...had].filter((name) => !held.has(name) && !doer.has(name));
            expect(robbed, JSON.stringify(next)).toEqual([]);
          }
        }
        expect(after.some(([tenant]) => PERMISSIONS.every((permission) => tenant!.has(permission)))).toBe(
          true,
        );
        before = after;
      }
    }),
    { numRuns: 15 },
  );
  // A run in which everything is refused would show nothing.
  expect(taken).toBeGreaterThan(40);
}, 240_000);
