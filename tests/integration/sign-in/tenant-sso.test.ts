import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '@gpuaas/sdk/contract';
import { CookieBrowser, type Page } from '../../harness/sign-in/cookie-browser.ts';
import { startDnsServer, type TestDnsServer } from '../../harness/sign-in/dns-server.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../../harness/sign-in/identity-provider.ts';
import { startSite, type TestSite } from '../../harness/sign-in/signed-in-site.ts';

type IdentityProvider = components['schemas']['IdentityProvider'];
type Domain = components['schemas']['IdentityProviderDomain'];

const DOMAIN = 'acme-corp.example';
const employee = { sub: 'e-1', email: `worker@${DOMAIN}`, name: 'A Worker', password: 'pw' };
const impostor = { sub: 'e-2', email: 'ceo@globex.example', name: 'Not The Boss', password: 'pw' };
const lookalike = { sub: 'e-3', email: `x@${DOMAIN}.evil.example`, name: 'Look Alike', password: 'pw' };

let site: TestSite;
let dns: TestDnsServer;
let tenantIdp: TestIdentityProvider;
beforeAll(async () => {
  dns = await startDnsServer();
  site = await startSite({ api: { dnsServers: [dns.address] } });
  tenantIdp = await startIdentityProvider({ people: [employee, impostor, lookalike] });
});
afterAll(async () => {
  await site?.stop();
  await tenantIdp?.stop();
  await dns?.stop();
});

async function as(
  person: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
) {
  const answer = await site.api.server.inject({
    method,
    url: `/api/v1/identity-providers${url}`,
    headers: { authorization: `Bearer ${site.api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
  const body = answer.body === '' ? {} : answer.json<Record<string, unknown>>();
  return { status: answer.statusCode, code: body['code'], body };
}

function registration(person = 'admin', issuer = tenantIdp.issuer) {
  const { organizationId, projectId } = site.api.people[person]!;
  return {
    organization_id: organizationId,
    name: 'Company sign-in',
    issuer,
    client_id: tenantIdp.clientId,
    client_secret: tenantIdp.clientSecret,
    cli_client_id: tenantIdp.cliClientId,
    newcomers_project_id: projectId,
  };
}

const begin = async (browser: CookieBrowser, email: string): Promise<Page> =>
  await browser.go(`${site.url}/auth/login?return_to=/healthz&login_hint=${encodeURIComponent(email)}`);

async function signInAs(person: typeof employee, hint = person.email): Promise<[CookieBrowser, Page]> {
  const browser = new CookieBrowser();
  const page = await begin(browser, hint);
  expect(page.url.startsWith(tenantIdp.issuer)).toBe(true);
  return [browser, await browser.submit(page, { email: person.email, password: person.password })];
}

async function bearer(claims: Record<string, unknown>) {
  const answer = await site.api.server.inject({
    url: '/api/v1/me',
    headers: { authorization: `Bearer ${await tenantIdp.sign(claims)}` },
  });
  return { status: answer.statusCode, body: answer.json<components['schemas']['Me']>() };
}

let provider: IdentityProvider;
let domain: Domain;

describe('registering a provider', () => {
  it('is refused at an address that is not public, and for the provider of the platform', async () => {
    expect(await as('admin', 'POST', '', registration())).toMatchObject({
      status: 422,
      code: 'issuer_refused',
    });
    for (const issuer of [
      'http://idp.example.com',
      'https://localhost/idp',
      'https://169.254.169.254',
      'https://10.0.0.1',
    ])
      expect(await as('admin', 'POST', '', registration('admin', issuer))).toMatchObject({
        code: 'issuer_refused',
      });
    await site.api.services.db
      .insertInto('policy_values')
      .values({ key: 'auth.allow_private_issuers', value: 'true' })
      .execute();
    await site.api.services.policies.refresh();
    const platforms = registration('admin', site.idp.issuer);
    expect(await as('admin', 'POST', '', platforms)).toMatchObject({ code: 'issuer_refused' });
  });

  it('takes the right to it, and shows no secret', async () => {
    expect(await as('member', 'POST', '', registration())).toMatchObject({ status: 403 });
    expect(await as('other', 'POST', '', registration())).toMatchObject({ status: 404 });
    const created = await as('admin', 'POST', '', registration());
    expect(created.status).toBe(201);
    expect(JSON.stringify(created.body)).not.toContain(tenantIdp.clientSecret);
    provider = created.body as unknown as IdentityProvider;
    expect(await as('admin', 'POST', '', registration())).toMatchObject({ code: 'identity_provider_exists' });
    expect((await as('other', 'GET', `/${provider.id}`)).status).toBe(404);
    await tenantIdp.sendBackTo(provider.redirect_uri);
  });
});

describe('a domain', () => {
  it('redirects no one until DNS proves it', async () => {
    const added = await as('admin', 'POST', `/${provider.id}/domains`, { domain: DOMAIN });
    expect(added.status).toBe(201);
    domain = added.body as unknown as Domain;
    const verify = `/${provider.id}/domains/${domain.id}/verify`;
    expect(await as('admin', 'POST', verify)).toMatchObject({ status: 409, code: 'domain_not_proven' });
    dns.publish(domain.record_name, 'gpuaas-domain-verification=something-else');
    expect(await as('admin', 'POST', verify)).toMatchObject({ code: 'domain_not_proven' });
    expect((await begin(new CookieBrowser(), employee.email)).url.startsWith(site.idp.issuer)).toBe(true);
    expect((await bearer({ sub: employee.sub, email: employee.email })).status).toBe(401);
    dns.publish(domain.record_name, domain.record_value);
    expect((await as('other', 'POST', verify)).status).toBe(404);
    expect(await as('admin', 'POST', verify)).toMatchObject({ status: 200 });
  });

  it('belongs to one organization', async () => {
    const rival = await as('other', 'POST', '', registration('other'));
    const id = String(rival.body['id']);
    const claimed = (await as('other', 'POST', `/${id}/domains`, { domain: DOMAIN }))
      .body as unknown as Domain;
    dns.publish(claimed.record_name, claimed.record_value);
    const verify = `/${id}/domains/${claimed.id}/verify`;
    expect(await as('other', 'POST', verify)).toMatchObject({ status: 409, code: 'domain_taken' });
    expect((await as('other', 'DELETE', `/${id}`)).status).toBe(204);
  });
});

describe('people of the domain', () => {
  it('are sent to their own provider and join its organization alone', async () => {
    const [browser, page] = await signInAs(employee);
    expect(page).toMatchObject({ status: 200, url: `${site.url}/healthz` });
    expect((await site.me(browser)).email).toBe(employee.email);
    const answer = await site.send(browser, 'GET', '/api/v1/me');
    const me = (await answer.json()) as components['schemas']['Me'];
    expect(me.organizations.map(({ name }) => name)).toEqual(['Acme Research']);
    expect(me.organizations[0]!.projects[0]!.permissions).toContain('allocation.create');
    const stranger = site.api.people['other']!.organizationId!;
    const { id } = await site.me(browser);
    await expect(
      site.api.services.db
        .insertInto('organization_members')
        .values({ id: crypto.randomUUID(), organization_id: stranger, user_id: id })
        .execute(),
    ).rejects.toThrow(/belongs to another tenant/);
  });

  it('are the only addresses that the provider can sign in, in the browser and by token', async () => {
    const { db } = site.api.services;
    for (const person of [impostor, lookalike]) {
      const [browser, page] = await signInAs(person, employee.email);
      expect(page.status).toBe(403);
      expect(JSON.parse(page.html)).toMatchObject({ code: 'sign_in_denied' });
      expect(browser.cookie('gpuaas_sign_in')).toBeUndefined();
      expect(await bearer({ sub: person.sub, email: person.email })).toMatchObject({ status: 403 });
    }
    expect(await bearer({ sub: 'e-9', email: employee.email, email_verified: false })).toMatchObject({
      status: 403,
    });
    const users = await db
      .selectFrom('users')
      .select('email')
      .where('issuer', '=', tenantIdp.issuer)
      .execute();
    expect(users).toEqual([{ email: employee.email }]);
    const denied = await db
      .selectFrom('audit_logs')
      .select('detail')
      .where('action', '=', 'sign_in.begin')
      .where('result', '=', 'denied')
      .execute();
    expect(JSON.stringify(denied)).toContain('sign_in_denied');
  });

  it('bring tokens of their provider, and the command line learns where to get them', async () => {
    const known = await bearer({ sub: employee.sub, email: employee.email });
    expect(known).toMatchObject({ status: 200, body: { user: { email: employee.email } } });
    const fresh = await bearer({ sub: 'e-7', email: `second@${DOMAIN.toUpperCase()}`, name: 'Second' });
    expect(fresh.body.organizations.map(({ name }) => name)).toEqual(['Acme Research']);
    const configuration = await site.api.server.inject({
      url: `/api/v1/auth/configuration?email=${encodeURIComponent(employee.email)}`,
    });
    expect(configuration.json()).toMatchObject({
      issuer: tenantIdp.issuer,
      cli_client_id: tenantIdp.cliClientId,
    });
    const others = await site.api.server.inject({
      url: '/api/v1/auth/configuration?email=x@elsewhere.example',
    });
    expect(others.json()).toMatchObject({ issuer: site.idp.issuer });
  });

  it('cannot finish a sign-in at the address of another provider', async () => {
    const browser = new CookieBrowser({ stopsAt: `${site.url}/auth/callback` });
    const page = await begin(browser, employee.email);
    const { url } = await browser.submit(page, { email: employee.email, password: employee.password });
    const mixedUp = url.replace(`/auth/callback/${provider.id}`, '/auth/callback');
    const state = new URL(url).searchParams.get('state')!;
    const answer = await fetch(mixedUp, { redirect: 'manual', headers: { cookie: `gpuaas_login=${state}` } });
    expect(answer.status).toBe(400);
  });

  it('are signed out immediately when the provider is disabled, and cannot sign in again', async () => {
    const [browser] = await signInAs(employee);
    expect((await site.me(browser)).status).toBe(200);
    expect((await as('admin', 'PATCH', `/${provider.id}`, { enabled: false })).status).toBe(200);
    expect((await site.me(browser)).status).toBe(401);
    expect((await bearer({ sub: employee.sub, email: employee.email })).status).toBe(401);
    expect((await begin(new CookieBrowser(), employee.email)).url.startsWith(site.idp.issuer)).toBe(true);
    expect((await as('admin', 'PATCH', `/${provider.id}`, { enabled: true })).status).toBe(200);
    const [again] = await signInAs(employee);
    expect((await site.me(again)).status).toBe(200);
    expect((await as('admin', 'DELETE', `/${provider.id}/domains/${domain.id}`)).status).toBe(204);
    expect((await site.me(again)).status).toBe(401);
    expect((await bearer({ sub: employee.sub, email: employee.email })).status).toBe(401);
    expect((await as('admin', 'DELETE', `/${provider.id}`)).status).toBe(204);
  });
});
