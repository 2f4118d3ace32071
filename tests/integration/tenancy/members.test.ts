import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { signIn } from '@gpuaas/control-plane/domains/tenancy/sign-in';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { openSignIn } from '../../harness/sign-in/open-sign-in.ts';
import {
  addPerson,
  newTenant,
  signUp,
  expectSuccess,
  TestCaller,
  withBearer,
  type Schemas,
} from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.stop());

interface Page<T> {
  items: T[];
  next_page: string | null;
}

describe('a first sign-in', () => {
  it('makes an organization with a default project, of which the person is admin', async () => {
    const person = await signUp(api, 'first');
    const me = await person.get<Schemas['Me']>('/api/v1/me');
    expect(me.organizations).toHaveLength(1);
    expect(me.organizations[0]!.projects.map((project) => project.name)).toEqual(['default']);
    expect(me.organizations[0]!.permissions).toContain('member.manage');
    expect(me.organizations[0]!.resource_name).toBe(
      `core42:aicloud:global:${me.organizations[0]!.id}:-:organization:${me.organizations[0]!.id}`,
    );
  });

  it('joins by invitation instead, without a new organization', async () => {
    const tenant = await newTenant(api);
    const person = await addPerson(api, tenant, 'guest', 'regular_user', tenant.projectId);
    const me = await person.get<Schemas['Me']>('/api/v1/me');
    expect(me.organizations.map((organization) => organization.id)).toEqual([tenant.organizationId]);
    expect(me.organizations[0]!.permissions).toEqual([]);
    expect(me.organizations[0]!.projects[0]!.permissions).toContain('allocation.create');
    const accepted = await api.services.db
      .selectFrom('audit_logs')
      .select(['organization_id', 'result', 'target_type', 'ip', 'detail'])
      .where('action', '=', 'invitation.accept')
      .where('actor_user_id', '=', person.userId)
      .execute();
    expect(accepted).toEqual([
      {
        organization_id: tenant.organizationId,
        result: 'succeeded',
        target_type: 'invitation',
        ip: '127.0.0.1',
        detail: { member_id: person.memberId },
      },
    ]);
  });

  it('with a token that cannot be used still signs in, as anybody does', async () => {
    const person = await signUp(api, 'lost', { invitation: 'gpi_not-a-token' });
    expect((await person.get<Schemas['Me']>('/api/v1/me')).organizations).toHaveLength(1);
  });
});

describe('an invitation', () => {
  it('accepted by a hundred concurrent requests creates one member', async () => {
    const tenant = await newTenant(api);
    const invitee = await signUp(api, 'invitee');
    const { token } = await tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
      organization_id: tenant.organizationId,
      email: invitee.email.toUpperCase(),
      permission_group: 'auditor',
    });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => invitee.ask('POST', '/api/v1/invitations/accept', { token })),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(new Set(answers.filter((a) => a.status !== 200).map((a) => a.body['code']))).toEqual(
      new Set(['invitation_not_usable']),
    );
    const members = await tenant.admin.get<Page<Schemas['Member']>>(
      `/api/v1/members?organization_id=${tenant.organizationId}`,
    );
    expect(members.items.filter((member) => member.user_id === invitee.userId)).toHaveLength(1);
    expect(members.items.find((member) => member.user_id === invitee.userId)!.bindings).toHaveLength(1);
  });

  it('is bound to its address, ends when revoked or expired, and its token is shown once', async () => {
    const tenant = await newTenant(api);
    const [invitee, thief] = [await signUp(api, 'invitee'), await signUp(api, 'thief')];
    const body = {
      organization_id: tenant.organizationId,
      email: invitee.email,
      permission_group: 'auditor',
    };
    const key = { 'x-idempotency-key': 'invite-once-1' };
    const first = await tenant.admin.ask<Schemas['InvitationWithToken']>(
      'POST',
      '/api/v1/invitations',
      body,
      key,
    );
    const again = await tenant.admin.ask<Schemas['InvitationWithToken']>(
      'POST',
      '/api/v1/invitations',
      body,
      key,
    );
    expect(again.body).toMatchObject({ token: null, accept_url: null, secret_already_shown: true });
    const { token, invitation } = expectSuccess(first);
    expect(await thief.ask('POST', '/api/v1/invitations/accept', { token })).toMatchObject({
      status: 409,
      body: { code: 'invitation_email_mismatch' },
    });
    expect(await tenant.admin.ask('POST', '/api/v1/invitations', body)).toMatchObject({
      body: { code: 'invitation_pending' },
    });
    const accept = () => invitee.ask('POST', '/api/v1/invitations/accept', { token });
    const { db } = api.services;
    await db
      .updateTable('invitations')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .where('id', '=', invitation.id)
      .execute();
    expect(await accept()).toMatchObject({ status: 409, body: { code: 'invitation_not_usable' } });
    // An expired one makes room for another.
    const second = await tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', body);
    expect((await tenant.admin.ask('DELETE', `/api/v1/invitations/${second.invitation.id}`)).status).toBe(
      204,
    );
    expect(await invitee.ask('POST', '/api/v1/invitations/accept', { token: second.token })).toMatchObject({
      body: { code: 'invitation_not_usable' },
    });
    const rows = await db.selectFrom('invitations').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(second.token!);
  });
});

describe('a member who leaves, is removed or is disabled', () => {
  it.each(['removed', 'disabled', 'left'] as const)(
    '%s: keys and rights die, belongings stay',
    async (way) => {
      const tenant = await newTenant(api);
      const member = await addPerson(api, tenant, 'engineer', 'project_admin', tenant.projectId);
      const key = await member.post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', {
        name: 'ci',
        organization_id: tenant.organizationId,
      });
      const program = withBearer(api, key.secret!);
      const project = `?project_id=${tenant.projectId}`;
      await program.get(`/api/v1/allocations${project}`);
      const account = await member.post<Schemas['ServiceAccountWithToken']>('/api/v1/service-accounts', {
        project_id: tenant.projectId,
        name: 'robot',
      });
      const hook = await member.post<Schemas['WebhookWithSecret']>('/api/v1/webhooks', {
        project_id: tenant.projectId,
        url: 'https://hooks.example.com/x',
      });
      const allocationId = await seedAllocation(api.services.db, { ...tenant, email: member.email });
      await api.services.db
        .updateTable('allocations')
        .set({ owner_user_id: member.userId })
        .where('id', '=', allocationId)
        .execute();

      const preview = await tenant.admin.get<Schemas['HandoverPreview']>(
        `/api/v1/members/${member.memberId}/handover`,
      );
      const belongings = [allocationId, hook.webhook.id, account.service_account.id].toSorted();
      expect(preview.resources.map((resource) => resource.resource_id).toSorted()).toEqual(belongings);
      expect(preview).toMatchObject({ api_keys: 1, service_account_tokens: 1 });

      const ask = {
        removed: () => tenant.admin.ask('DELETE', `/api/v1/members/${member.memberId}`),
        disabled: () => tenant.admin.ask('POST', `/api/v1/members/${member.memberId}/disable`),
        left: () => member.ask('POST', `/api/v1/organizations/${tenant.organizationId}/leave`),
      };
      expect((await ask[way]()).status).toBeLessThan(300);

      expect((await program.ask('GET', '/api/v1/me')).status).toBe(401);
      // It was their only tenant.
      expect((await member.ask('GET', '/api/v1/me')).status).toBe(401);
      const handovers = await tenant.admin.get<Page<Schemas['Handover']>>(
        `/api/v1/organizations/${tenant.organizationId}/handovers?user_id=${member.userId}`,
      );
      expect(handovers.items.map((item) => item.resource_id).toSorted()).toEqual(belongings);
      expect(handovers.items[0]).toMatchObject({ reason: way, user_email: member.email });
      const allocation = await api.services.db
        .selectFrom('allocations')
        .select(['organization_id', 'state', 'owner_user_id'])
        .where('id', '=', allocationId)
        .executeTakeFirstOrThrow();
      expect(allocation).toEqual({
        organization_id: tenant.organizationId,
        state: 'active',
        owner_user_id: null,
      });
      const kept = await tenant.admin.get<Schemas['ServiceAccount']>(
        `/api/v1/service-accounts/${account.service_account.id}`,
      );
      expect(kept).toMatchObject({ owner_user_id: null, state: 'active' });
      // Its maker knows the token, so that ended; the program goes on with the next one.
      expect((await withBearer(api, account.token!).ask('GET', '/api/v1/me')).status).toBe(401);
      const next = await tenant.admin.post<Schemas['ServiceAccountWithToken']>(
        `/api/v1/service-accounts/${account.service_account.id}/rotate-token`,
      );
      expect((await withBearer(api, next.token!).ask('GET', '/api/v1/me')).status).toBe(200);
    },
  );

  it('keeps sign-ins that serve another tenant, without rights in this one', async () => {
    const tenant = await newTenant(api);
    const person = await signUp(api, 'both');
    const { token } = await tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
      organization_id: tenant.organizationId,
      email: person.email,
      permission_group: 'tenant_admin',
    });
    const { member_id } = await person.post<Schemas['AcceptedInvitation']>('/api/v1/invitations/accept', {
      token,
    });
    const url = `/api/v1/members?organization_id=${tenant.organizationId}`;
    expect((await person.ask('GET', url)).status).toBe(200);
    await tenant.admin.post(`/api/v1/members/${member_id}/disable`);
    expect((await person.ask('GET', url)).status).toBe(404);
    expect((await person.get<Schemas['Me']>('/api/v1/me')).organizations).toHaveLength(1);
    await tenant.admin.post(`/api/v1/members/${member_id}/enable`);
    expect((await person.ask('GET', url)).status).toBe(200);
  });
});

describe('a disabled member', () => {
  it('is enabled again only by who holds all that comes back with it, also through a team', async () => {
    const tenant = await newTenant(api);
    const { organizationId: organization_id, admin } = tenant;
    const group = await admin.post<Schemas['PermissionGroup']>('/api/v1/permission-groups', {
      organization_id,
      name: 'front desk',
      permissions: ['organization.read', 'member.read', 'member.manage'],
    });
    const desk = await addPerson(api, tenant, 'desk', group.id);
    const team = await admin.post<Schemas['Team']>('/api/v1/teams', { organization_id, name: 'finance' });
    await admin.post('/api/v1/permission-bindings', {
      organization_id,
      permission_group: 'billing_admin',
      holder: { type: 'team', id: team.id },
    });
    const boss = await addPerson(api, tenant, 'boss', 'tenant_admin');
    const clerk = await addPerson(api, tenant, 'clerk', group.id);
    const peer = await addPerson(api, tenant, 'peer', group.id);
    expect((await admin.ask('PUT', `/api/v1/teams/${team.id}/members/${clerk.userId}`)).status).toBe(204);
    for (const { memberId } of [boss, clerk, peer]) {
      expect((await desk.ask('POST', `/api/v1/members/${memberId}/disable`)).status).toBe(200);
    }
    const enable = (by: TestCaller, { memberId }: { memberId: string }) =>
      by.ask('POST', `/api/v1/members/${memberId}/enable`);
    const refused = { status: 403, body: { code: 'exceeds_own_rights' } };
    expect(await enable(desk, boss)).toMatchObject(refused);
    expect(await enable(desk, clerk)).toMatchObject(refused);
    expect(await enable(desk, peer)).toMatchObject({ status: 200, body: { state: 'active' } });
    expect(await enable(admin, boss)).toMatchObject({ status: 200, body: { state: 'active' } });
  });

  it('revokes invitations that were not accepted yet', async () => {
    const tenant = await newTenant(api);
    const second = await addPerson(api, tenant, 'second', 'tenant_admin');
    const invited = await signUp(api, 'invited');
    const { token } = await second.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
      organization_id: tenant.organizationId,
      email: invited.email,
      permission_group: 'tenant_admin',
    });
    await tenant.admin.post(`/api/v1/members/${second.memberId}/disable`);
    expect(await invited.ask('POST', '/api/v1/invitations/accept', { token })).toMatchObject({
      status: 409,
      body: { code: 'invitation_not_usable' },
    });
  });

  it('can sign in and see nothing, and gets no organization by surprise', async () => {
    const tenant = await newTenant(api);
    const member = await addPerson(api, tenant, 'gone', 'tenant_admin');
    await tenant.admin.post(`/api/v1/members/${member.memberId}/disable`);
    const { services } = api;
    const known = await services.db
      .selectFrom('users')
      .select(['issuer', 'subject', 'email', 'name'])
      .where('id', '=', member.userId)
      .executeTakeFirstOrThrow();
    const userId = await services.db
      .transaction()
      .execute((tx) => signIn(tx, { ...known, emailVerified: true, tenant: null }));
    expect(userId).toBe(member.userId);
    const { cookie } = await openSignIn(api, member.email);
    const me = await new TestCaller(api, { cookie }).get<Schemas['Me']>('/api/v1/me');
    expect(me).toMatchObject({ organizations: [], platform_permissions: [] });
  });
});

describe('a person of a tenant’s own identity provider', () => {
  it('can neither found nor join another organization', async () => {
    const home = await newTenant(api, 'home');
    const other = await newTenant(api, 'other');
    const person = await signUp(api, 'employee');
    const { db } = api.services;
    await db.deleteFrom('permission_bindings').where('user_id', '=', person.userId).execute();
    await db.deleteFrom('organization_members').where('user_id', '=', person.userId).execute();
    await db
      .updateTable('users')
      .set({ home_organization_id: home.organizationId })
      .where('id', '=', person.userId)
      .execute();
    const refused = { status: 409, body: { code: 'member_elsewhere' } };
    expect(await person.ask('POST', '/api/v1/organizations', { name: 'own' })).toMatchObject(refused);
    const { token } = await other.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
      organization_id: other.organizationId,
      email: person.email,
      permission_group: 'regular_user',
    });
    expect(await person.ask('POST', '/api/v1/invitations/accept', { token })).toMatchObject(refused);
  });
});

describe('the last admin', () => {
  it('cannot be removed, disabled or unbound, cannot leave, and cannot go through a team', async () => {
    const tenant = await newTenant(api);
    const { items } = await tenant.admin.get<Page<Schemas['Member']>>(
      `/api/v1/members?organization_id=${tenant.organizationId}`,
    );
    const [me] = items;
    const refused = { status: 409, body: { code: 'last_tenant_admin' } };
    expect(await tenant.admin.ask('DELETE', `/api/v1/members/${me!.id}`)).toMatchObject(refused);
    expect(await tenant.admin.ask('POST', `/api/v1/members/${me!.id}/disable`)).toMatchObject(refused);
    expect(
      await tenant.admin.ask('POST', `/api/v1/organizations/${tenant.organizationId}/leave`),
    ).toMatchObject(refused);
    const own = `/api/v1/permission-bindings/${me!.bindings[0]!.id}`;
    expect(await tenant.admin.ask('DELETE', own)).toMatchObject(refused);
    // By a team the right is theirs just as well, until the team would lose it.
    const team = await tenant.admin.post<Schemas['Team']>('/api/v1/teams', {
      organization_id: tenant.organizationId,
      name: 'admins',
    });
    const place = `/api/v1/teams/${team.id}/members/${tenant.admin.userId}`;
    expect((await tenant.admin.ask('PUT', place)).status).toBe(204);
    await tenant.admin.post('/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      permission_group: 'tenant_admin',
      holder: { type: 'team', id: team.id },
    });
    expect((await tenant.admin.ask('DELETE', own)).status).toBe(204);
    expect(await tenant.admin.ask('DELETE', place)).toMatchObject(refused);
    expect(await tenant.admin.ask('DELETE', `/api/v1/teams/${team.id}`)).toMatchObject(refused);
    expect((await tenant.admin.get<Schemas['Me']>('/api/v1/me')).organizations[0]!.permissions).toContain(
      'access.manage',
    );
  });

  it('exists after two admins remove each other concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = await newTenant(api);
      const second = await addPerson(api, tenant, 'second', 'tenant_admin');
      const { items } = await tenant.admin.get<Page<Schemas['Member']>>(
        `/api/v1/members?organization_id=${tenant.organizationId}`,
      );
      const first = items.find((member) => member.user_id === tenant.admin.userId)!;
      const answers = await Promise.all([
        tenant.admin.ask('DELETE', `/api/v1/members/${second.memberId}`),
        second.ask('DELETE', `/api/v1/members/${first.id}`),
      ]);
      expect(answers.filter((answer) => answer.status === 204)).toHaveLength(1);
      const left = await api.services.db
        .selectFrom('organization_members')
        .select('user_id')
        .where('organization_id', '=', tenant.organizationId)
        .execute();
      expect(left).toHaveLength(1);
    }
  });
});
