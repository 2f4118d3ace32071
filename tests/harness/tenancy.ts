import { grantDemoCredit } from '@gpuaas/control-plane/domains/billing/ledger/grant-demo-credit';
import { signIn } from '@gpuaas/control-plane/domains/tenancy/sign-in';
import { createSignIn } from '@gpuaas/control-plane/platform/auth/sign-ins';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { TestApi } from './api.ts';

export type Schemas = components['schemas'];

export interface Answer<T = Record<string, unknown>> {
  status: number;
  body: T;
  text: string;
  headers: Record<string, unknown>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** A caller of the API. */
export class TestCaller {
  readonly #api: TestApi;
  readonly #headers: Record<string, string>;

  constructor(api: TestApi, headers: Record<string, string>) {
    this.#api = api;
    this.#headers = headers;
  }

  async ask<T = Record<string, unknown>>(
    method: Method,
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const answer = await this.#api.server.inject({
      method,
      url,
      headers: { ...this.#headers, ...headers },
      ...(payload ? { payload } : {}),
    });
    const text = answer.body;
    return {
      status: answer.statusCode,
      body: (text === '' ? {} : JSON.parse(text)) as T,
      text,
      headers: answer.headers,
    };
  }

  /** The body of an answer that must be a success. */
  async get<T>(url: string): Promise<T> {
    return expectSuccess(await this.ask<T>('GET', url));
  }

  async post<T>(url: string, payload?: object): Promise<T> {
    return expectSuccess(await this.ask<T>('POST', url, payload));
  }
}

export function expectSuccess<T>(answer: Answer<T>): T {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

export function withBearer(api: TestApi, secret: string): TestCaller {
  return new TestCaller(api, { authorization: `Bearer ${secret}` });
}

const browser = (userId: string) => ({ userId, userAgent: 'test', ip: '127.0.0.1' });

export interface TestPerson extends TestCaller {
  userId: string;
  email: string;
}

/** A new person who has just signed in with a browser, with their own tenant. */
export async function signUp(
  api: TestApi,
  name: string,
  options: { email?: string; emailVerified?: boolean; invitation?: string } = {},
): Promise<TestPerson> {
  const email = options.email ?? `${name}-${newId().slice(-8)}@example.test`;
  const { userId, secret } = await api.services.db.transaction().execute(async (tx) => {
    const identity = {
      issuer: 'https://idp.test',
      subject: newId(),
      email,
      emailVerified: options.emailVerified ?? true,
      name,
      tenant: null,
    };
    const id = await signIn(tx, identity, options.invitation ?? null);
    return { userId: id, secret: (await createSignIn(tx, api.services, browser(id))).secret };
  });
  const cookie = `gpuaas_sign_in=${secret}`;
  const me = await new TestCaller(api, { cookie }).get<Schemas['Me']>('/api/v1/me');
  const person = new TestCaller(api, { cookie, 'x-csrf-token': me.csrf_token! });
  return Object.assign(person, { userId, email });
}

export interface TestTenant {
  admin: TestPerson;
  organizationId: string;
  projectId: string;
}

/** A tenant with its first admin. */
export async function newTenant(api: TestApi, name = 'tenant'): Promise<TestTenant> {
  const admin = await signUp(api, name);
  const me = await admin.get<Schemas['Me']>('/api/v1/me');
  const [organization] = me.organizations;
  await api.services.db.transaction().execute((tx) => grantDemoCredit(tx, [organization!.id]));
  return { admin, organizationId: organization!.id, projectId: organization!.projects[0]!.id };
}

/** Invites somebody new and has them sign in and accept. */
export async function addPerson(
  api: TestApi,
  tenant: TestTenant,
  name: string,
  group: string,
  projectId?: string,
): Promise<TestPerson & { memberId: string }> {
  const email = `${name}-${newId().slice(-8)}@example.test`;
  const { token } = await tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
    organization_id: tenant.organizationId,
    email,
    permission_group: group,
    ...(projectId ? { project_id: projectId } : {}),
  });
  const person = await signUp(api, name, { email, invitation: token! });
  await person.post('/api/v1/invitations/accept', { token });
  const members = await tenant.admin.get<{ items: Schemas['Member'][] }>(
    `/api/v1/members?organization_id=${tenant.organizationId}&limit=200`,
  );
  const { id: memberId } = members.items.find((member) => member.user_id === person.userId)!;
  return Object.assign(person, { memberId });
}
