import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import {
  addPerson,
  newTenant,
  signUp,
  withBearer,
  type Schemas,
  type TestPerson,
  type TestTenant,
} from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

/** May run people and access, and nothing else of the tenant. */
const DELEGATED = [
  'organization.read',
  'project.read',
  'member.read',
  'member.manage',
  'access.read',
  'access.manage',
  'allocation.read',
];

async function ownGroup(tenant: TestTenant, name: string, permissions: string[]): Promise<string> {
  const group = await tenant.admin.post<Schemas['PermissionGroup']>('/api/v1/permission-groups', {
    organization_id: tenant.organizationId,
    name,
    permissions,
  });
  return group.id;
}

async function withDelegate(): Promise<{ tenant: TestTenant; delegate: TestPerson; group: string }> {
  const tenant = await newTenant(api);
  const group = await ownGroup(tenant, 'people office', DELEGATED);
  return { tenant, group, delegate: await addPerson(api, tenant, 'delegate', group) };
}

const exceeds = (...missing: string[]) => ({
  status: 403,
  body: { code: 'exceeds_own_rights', missing_permissions: missing },
});

/** Permissions of Billing Admins that the delegate lacks. */
const BILLING = permissionGroups.billing_admin.permissions.filter((one) => !DELEGATED.includes(one));

describe('callers cannot grant more than they hold', () => {
  it('in a group they make, clone or edit', async () => {
    const { tenant, delegate, group } = await withDelegate();
    const make = (body: object) =>
      delegate.ask<Schemas['PermissionGroup']>('POST', '/api/v1/permission-groups', {
        organization_id: tenant.organizationId,
        ...body,
      });
    const wanted = ['allocation.read', 'webhook.manage', 'billing.read'];
    expect(await make({ name: 'a', permissions: wanted })).toMatchObject(
      exceeds('webhook.manage', 'billing.read'),
    );
    expect(await make({ name: 'a', clone_of: 'billing_admin' })).toMatchObject(exceeds(...BILLING));
    const strong = await ownGroup(tenant, 'strong', ['allocation.read', 'allocation.create']);
    expect(await make({ name: 'a', clone_of: strong })).toMatchObject(exceeds('allocation.create'));
    const edit = (id: string, body: object) => delegate.ask('PATCH', `/api/v1/permission-groups/${id}`, body);
    expect(await edit(group, { permissions: [...DELEGATED, 'api_key.manage'] })).toMatchObject(
      exceeds('api_key.manage'),
    );
    // They may not weaken or rename groups above them either.
    expect(await edit(strong, { permissions: ['allocation.read'] })).toMatchObject(
      exceeds('allocation.create'),
    );
    expect(await edit(strong, { name: 'weak' })).toMatchObject(exceeds('allocation.create'));
    // Permissions that they hold can be passed on, all or part.
    expect((await make({ name: 'copy', clone_of: group })).body.permissions).toEqual(DELEGATED);
    expect((await make({ name: 'readers', permissions: ['allocation.read'] })).status).toBe(201);
  });

  it('in a group of permissions that are not for tenants', async () => {
    const { admin, organizationId } = await newTenant(api);
    const body = { organization_id: organizationId, name: 'fleet' };
    const url = '/api/v1/permission-groups';
    for (const permissions of [['fleet.read'], ['no.such']]) {
      expect(await admin.ask('POST', url, { ...body, permissions })).toMatchObject({
        status: 422,
        body: { code: 'permission_unknown', errors: [{ pointer: '/permissions/0' }] },
      });
    }
    expect(await admin.ask('POST', url, { ...body, clone_of: 'platform_admin' })).toMatchObject({
      body: { code: 'permission_group_unknown' },
    });
  });

  it('in a binding, for themselves or anybody', async () => {
    const { tenant, delegate } = await withDelegate();
    const bind = (person: TestPerson, body: object) =>
      person.ask('POST', '/api/v1/permission-bindings', { organization_id: tenant.organizationId, ...body });
    const self = { type: 'user', id: delegate.userId };
    expect(await bind(delegate, { permission_group: 'billing_admin', holder: self })).toMatchObject(
      exceeds(...BILLING),
    );
    expect(await bind(delegate, { permission_group: 'tenant_admin', holder: self })).toMatchObject({
      body: { code: 'exceeds_own_rights' },
    });
    const user = { permission_group: 'regular_user', project_id: tenant.projectId };
    expect((await bind(delegate, { ...user, holder: self })).body).toMatchObject({
      code: 'exceeds_own_rights',
      missing_permissions: expect.arrayContaining(['allocation.create']),
    });
    expect((await bind(tenant.admin, { ...user, holder: self })).status).toBe(201);
  });

  it('beyond the project in which they hold it', async () => {
    const tenant = await newTenant(api);
    const { id: other } = await tenant.admin.post<Schemas['Project']>('/api/v1/projects', {
      organization_id: tenant.organizationId,
      name: 'other',
    });
    const lead = await addPerson(api, tenant, 'lead', 'project_admin', tenant.projectId);
    const guest = await addPerson(api, tenant, 'guest', 'auditor');
    const bind = (place: object) =>
      lead.ask('POST', '/api/v1/permission-bindings', {
        organization_id: tenant.organizationId,
        permission_group: 'regular_user',
        holder: { type: 'user', id: guest.userId },
        ...place,
      });
    expect((await bind({})).status).toBe(403);
    expect((await bind({ project_id: other })).status).toBe(403);
    expect((await bind({ project_id: tenant.projectId })).status).toBe(201);
  });

  it('by putting people into a team, themselves first', async () => {
    const { tenant, delegate } = await withDelegate();
    const team = await tenant.admin.post<Schemas['Team']>('/api/v1/teams', {
      organization_id: tenant.organizationId,
      name: 'billing',
    });
    const place = `/api/v1/teams/${team.id}/members/${delegate.userId}`;
    expect((await delegate.ask('PUT', place)).status).toBe(204);
    expect((await delegate.ask('DELETE', place)).status).toBe(204);
    await tenant.admin.post('/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      permission_group: 'billing_admin',
      holder: { type: 'team', id: team.id },
    });
    expect(await delegate.ask('PUT', place)).toMatchObject(exceeds(...BILLING));
  });

  it('by enabling a member who holds more', async () => {
    const { tenant, delegate } = await withDelegate();
    const billing = await addPerson(api, tenant, 'billing', 'billing_admin');
    const member = `/api/v1/members/${billing.memberId}`;
    expect((await delegate.ask('POST', `${member}/disable`)).status).toBe(200);
    expect(await delegate.ask('POST', `${member}/enable`)).toMatchObject(exceeds(...BILLING));
    expect((await tenant.admin.ask('POST', `${member}/enable`)).status).toBe(200);
  });

  it('in an invitation', async () => {
    const { tenant, delegate, group } = await withDelegate();
    const invite = (permissionGroup: string) =>
      delegate.ask('POST', '/api/v1/invitations', {
        organization_id: tenant.organizationId,
        email: `${crypto.randomUUID()}@example.test`,
        permission_group: permissionGroup,
      });
    expect(await invite('billing_admin')).toMatchObject(exceeds(...BILLING));
    expect((await invite('tenant_admin')).body).toMatchObject({ code: 'exceeds_own_rights' });
    expect((await invite(group)).status).toBe(201);
  });

  it('by taking the token of a service account that holds more', async () => {
    const tenant = await newTenant(api);
    const robots = await ownGroup(tenant, 'robots', [
      'project.read',
      'service_account.read',
      'service_account.manage',
    ]);
    const keeper = await addPerson(api, tenant, 'keeper', robots, tenant.projectId);
    const { service_account, token } = await keeper.post<Schemas['ServiceAccountWithToken']>(
      '/api/v1/service-accounts',
      { project_id: tenant.projectId, name: 'robot' },
    );
    const url = `/api/v1/service-accounts/${service_account.id}`;
    expect((await keeper.ask('POST', `${url}/rotate-token`)).status).toBe(200);
    await tenant.admin.post('/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      project_id: tenant.projectId,
      permission_group: 'regular_user',
      holder: { type: 'service_account', id: service_account.id },
    });
    const refused = { status: 403, body: { code: 'exceeds_own_rights' } };
    expect(await keeper.ask('POST', `${url}/rotate-token`)).toMatchObject(refused);
    // They may stop it; to enable it they would need its permissions.
    expect((await keeper.ask('POST', `${url}/disable`)).status).toBe(200);
    expect(await keeper.ask('POST', `${url}/enable`)).toMatchObject(refused);
    expect((await tenant.admin.ask('POST', `${url}/enable`)).status).toBe(200);
    // It may renew its own.
    expect((await withBearer(api, token!).ask('POST', `${url}/rotate-token`)).status).toBe(200);
  });

  it('in the scopes of an API key, which follow what its owner holds at each request', async () => {
    const { tenant, delegate, group } = await withDelegate();
    const make = (scopes: string[]) =>
      delegate.ask<Schemas['ApiKeyWithSecret']>('POST', '/api/v1/api-keys', {
        name: 'ci',
        organization_id: tenant.organizationId,
        scopes,
      });
    expect(await make(['allocation.read', 'billing.read'])).toMatchObject(exceeds('billing.read'));
    expect(await make(['no.such'])).toMatchObject({
      body: { code: 'permission_unknown', errors: [{ pointer: '/scopes/0' }] },
    });
    const key = withBearer(api, (await make(['allocation.read', 'member.read'])).body.secret!);
    const allocations = `/api/v1/allocations?project_id=${tenant.projectId}`;
    expect((await key.ask('GET', allocations)).status).toBe(200);
    const narrower = DELEGATED.filter((name) => name !== 'allocation.read');
    await tenant.admin.ask('PATCH', `/api/v1/permission-groups/${group}`, { permissions: narrower });
    expect((await key.ask('GET', allocations)).status).toBe(403);
  });
});

describe('nobody takes more than they hold', () => {
  const bind = (tenant: TestTenant, permission_group: string, holder: { type: string; id: string }) =>
    tenant.admin.post<Schemas['PermissionBinding']>('/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      permission_group,
      holder,
    });

  it('by removing a binding: an admin’s, or one of a person who holds more', async () => {
    const { tenant, delegate, group } = await withDelegate();
    const admin = await addPerson(api, tenant, 'second', 'tenant_admin');
    const path = `/api/v1/permission-bindings?organization_id=${tenant.organizationId}`;
    const { items } = await tenant.admin.get<{ items: Schemas['PermissionBinding'][] }>(path);
    const ofAdmin = items.find(({ holder }) => holder.id === admin.userId)!;
    const take = (id: string) => delegate.ask('DELETE', `/api/v1/permission-bindings/${id}`);
    expect(await take(ofAdmin.id)).toMatchObject({ status: 403, body: { code: 'exceeds_own_rights' } });
    const billing = await bind(tenant, 'billing_admin', { type: 'user', id: delegate.userId });
    const own = items.find(({ holder }) => holder.id === delegate.userId)!;
    // What they hold they may take, from themselves too.
    expect((await take(billing.id)).status).toBe(204);
    const guest = await addPerson(api, tenant, 'guest', group);
    const ofGuest = (await tenant.admin.get<{ items: Schemas['PermissionBinding'][] }>(path)).items.find(
      ({ holder }) => holder.id === guest.userId,
    )!;
    expect((await take(ofGuest.id)).status).toBe(204);
    expect((await take(own.id)).status).toBe(204);
  });

  it('by deleting a group that holds more', async () => {
    const { tenant, delegate } = await withDelegate();
    const strong = await ownGroup(tenant, 'strong', ['allocation.read', 'allocation.create']);
    const weak = await ownGroup(tenant, 'weak', ['allocation.read']);
    const drop = (id: string) => delegate.ask('DELETE', `/api/v1/permission-groups/${id}`);
    expect(await drop(strong)).toMatchObject(exceeds('allocation.create'));
    expect((await drop(weak)).status).toBe(204);
  });

  it('by taking somebody out of a team, or with the team', async () => {
    const { tenant, delegate } = await withDelegate();
    const team = await tenant.admin.post<Schemas['Team']>('/api/v1/teams', {
      organization_id: tenant.organizationId,
      name: 'billing',
    });
    await tenant.admin.ask('PUT', `/api/v1/teams/${team.id}/members/${tenant.admin.userId}`);
    await bind(tenant, 'billing_admin', { type: 'team', id: team.id });
    const place = `/api/v1/teams/${team.id}/members/${tenant.admin.userId}`;
    expect(await delegate.ask('DELETE', place)).toMatchObject(exceeds(...BILLING));
    expect(await delegate.ask('DELETE', `/api/v1/teams/${team.id}`)).toMatchObject(exceeds(...BILLING));
    expect((await tenant.admin.ask('DELETE', place)).status).toBe(204);
  });
});

describe('the address of a webhook', () => {
  it('is shown in full to people who manage webhooks, and to others without path and query', async () => {
    const tenant = await newTenant(api);
    const user = await addPerson(api, tenant, 'user', 'regular_user', tenant.projectId);
    const auditor = await addPerson(api, tenant, 'auditor', 'auditor');
    const url = 'https://hooks.example.com:8443/services/T0/B1/secretpart?token=secretpart';
    const made = await tenant.admin.ask<Schemas['WebhookWithSecret']>('POST', '/api/v1/webhooks', {
      project_id: tenant.projectId,
      url,
    });
    expect(made.status).toBe(201);
    const paths = [
      `/api/v1/webhooks?project_id=${tenant.projectId}`,
      `/api/v1/webhooks/${made.body.webhook.id}`,
    ];
    for (const path of paths) {
      expect((await tenant.admin.ask('GET', path)).text).toContain('secretpart');
      for (const reader of [user, auditor]) {
        const { status, text } = await reader.ask('GET', path);
        expect(status).toBe(200);
        expect(text).toContain('"url":"https://hooks.example.com:8443/***"');
        expect(text).not.toContain('secretpart');
      }
    }
  });
});

describe('an API key with scopes', () => {
  it('does what they name, and has no say in what is its owner’s', async () => {
    const tenant = await newTenant(api);
    const { admin, organizationId } = tenant;
    const whole = await admin.post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', {
      name: 'whole',
      organization_id: organizationId,
    });
    const limited = await admin.post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', {
      name: 'limited',
      organization_id: organizationId,
      scopes: ['member.read', 'member.manage'],
    });
    const sshKey = await admin.post<Schemas['SshKey']>('/api/v1/ssh-keys', {
      name: 'mine',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPKGY7dlGR3Gkeag9vQi5MhDW6TGZlOMPhDPiaLTTKPJ',
    });
    const key = withBearer(api, limited.secret!);
    expect((await key.ask('GET', `/api/v1/members?organization_id=${organizationId}`)).status).toBe(200);
    const other = await signUp(api, 'other');
    const refused: [Parameters<typeof key.ask>[0], string, object?][] = [
      ['POST', '/api/v1/api-keys', { name: 'wider', organization_id: organizationId }],
      ['POST', '/api/v1/ssh-keys', { name: 'x', public_key: sshKey.public_key }],
      ['POST', '/api/v1/organizations', { name: 'x' }],
      ['POST', `/api/v1/organizations/${organizationId}/leave`],
      ['POST', '/api/v1/invitations/accept', { token: 'gpi_x' }],
      ['POST', '/api/v1/sign-ins/revoke-others'],
      ['DELETE', `/api/v1/api-keys/${whole.api_key.id}`],
      ['GET', `/api/v1/api-keys/${whole.api_key.id}`],
      ['GET', '/api/v1/api-keys'],
      ['DELETE', `/api/v1/ssh-keys/${sshKey.id}`],
      ['GET', `/api/v1/ssh-keys/${sshKey.id}`],
      ['GET', '/api/v1/ssh-keys'],
      ['GET', '/api/v1/sign-ins'],
      [
        'GET',
        `/api/v1/members?organization_id=${(await other.get<Schemas['Me']>('/api/v1/me')).organizations[0]!.id}`,
      ],
    ];
    for (const [method, url, payload] of refused) {
      const answer = await key.ask(method, url, payload);
      expect([403, 404], `${method} ${url}: ${answer.status} ${answer.text}`).toContain(answer.status);
    }
    // An invitation would carry rights that the key has not.
    expect(
      await key.ask('POST', '/api/v1/invitations', {
        organization_id: organizationId,
        email: 'x@example.test',
        permission_group: 'auditor',
      }),
    ).toMatchObject({ status: 403, body: { code: 'exceeds_own_rights' } });
    expect((await withBearer(api, whole.secret!).ask('GET', '/api/v1/me')).status).toBe(200);
  });
});
