import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { newSecret } from '@gpuaas/control-plane/platform/auth/secrets';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { openSignIn } from '../../harness/sign-in/open-sign-in.ts';
import {
  addPerson,
  newTenant,
  TestCaller,
  withBearer,
  type Method,
  type Schemas,
  type TestTenant,
} from '../../harness/tenancy.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createTestApi();
  tenant = await newTenant(api);
});
afterAll(() => api?.stop());

describe('on record is', () => {
  it('the use of an API key that was revoked or has expired, with whose it was', async () => {
    const { api_key, secret } = await newKey();
    const caller = withBearer(api, secret!);
    await api.services.db
      .updateTable('api_keys')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .where('id', '=', api_key.id)
      .execute();
    const row = {
      actor_user_id: tenant.admin.userId,
      actor_kind: 'user',
      credential_id: `api_key:${api_key.id}`,
      organization_id: tenant.organizationId,
      action: 'project.create',
      result: 'denied',
    };
    const project = { organization_id: tenant.organizationId, name: 'never' };
    expect(await tried(caller, 401, 'POST', '/api/v1/projects', project)).toMatchObject([
      { ...row, detail: { reason: 'expired' } },
    ]);
    await tenant.admin.ask('DELETE', `/api/v1/api-keys/${api_key.id}`);
    expect(await tried(caller, 401, 'POST', '/api/v1/projects', project)).toMatchObject([
      { ...row, detail: { reason: 'revoked' } },
    ]);
  });

  it('the use of a token of a service account that is disabled', async () => {
    const { service_account, token } = await tenant.admin.post<Schemas['ServiceAccountWithToken']>(
      '/api/v1/service-accounts',
      { project_id: tenant.projectId, name: 'disabled' },
    );
    await tenant.admin.post(`/api/v1/service-accounts/${service_account.id}/disable`);
    const path = `/api/v1/projects/${tenant.projectId}`;
    expect(await tried(withBearer(api, token!), 401, 'GET', path)).toMatchObject([
      { actor_user_id: service_account.id, actor_kind: 'service_account', action: 'project.read' },
    ]);
  });

  it('a mutation without the CSRF token, and one by a key that is limited to scopes', async () => {
    const { cookie } = await openSignIn(api, tenant.admin.email);
    const forged = new TestCaller(api, { cookie });
    expect(await tried(forged, 403, 'POST', '/api/v1/organizations', { name: 'no' })).toMatchObject([
      { actor_user_id: tenant.admin.userId, action: 'organization.create', result: 'denied' },
    ]);
    const { api_key, secret } = await newKey(['project.read']);
    const limited = withBearer(api, secret!);
    expect(await tried(limited, 403, 'POST', '/api/v1/organizations', { name: 'no' })).toMatchObject([
      { credential_id: `api_key:${api_key.id}`, action: 'organization.create', result: 'denied' },
    ]);
  });

  it('a read without the permission, up to a limit', async () => {
    const user = await addPerson(api, tenant, 'user', 'regular_user', tenant.projectId);
    const url = `/api/v1/members?organization_id=${tenant.organizationId}`;
    expect(await tried(user, 403, 'GET', url)).toMatchObject([
      { actor_user_id: user.userId, action: 'member.read', result: 'denied', target_id: 'listMembers' },
    ]);
    for (let again = 0; again < 30; again += 1) await user.ask('GET', url);
    expect(await tried(user, 403, 'GET', url)).toEqual([]);
  });
});

it('an unknown key leaves no row, and is refused like a revoked one', async () => {
  const { api_key, secret } = await newKey();
  await tenant.admin.ask('DELETE', `/api/v1/api-keys/${api_key.id}`);
  const id = { 'x-correlation-id': newId() };
  const revoked = await withBearer(api, secret!).ask('GET', '/api/v1/me', undefined, id);
  const unknown = await withBearer(api, newSecret('api_key')).ask('GET', '/api/v1/me', undefined, id);
  expect(unknown.text).toBe(revoked.text);
  expect(await tried(withBearer(api, newSecret('api_key')), 401, 'GET', '/api/v1/me')).toEqual([]);
});

async function newKey(scopes?: string[]): Promise<Schemas['ApiKeyWithSecret']> {
  const organization_id = tenant.organizationId;
  return await tenant.admin.post('/api/v1/api-keys', {
    name: 'k',
    organization_id,
    ...(scopes && { scopes }),
  });
}

/** The audit row of an attempt that must fail. */
async function tried(caller: TestCaller, status: number, method: Method, url: string, payload?: object) {
  const id = newId();
  const answer = await caller.ask(method, url, payload, { 'x-correlation-id': id });
  expect(answer.status, answer.text).toBe(status);
  return await api.services.db
    .selectFrom('audit_logs')
    .selectAll()
    .where('correlation_id', '=', id)
    .execute();
}
