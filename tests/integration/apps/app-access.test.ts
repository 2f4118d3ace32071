import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import type { WebSocket } from 'ws';
import { release, type Allocation } from '../../harness/allocations/allocations.ts';
import { AppClient, type AppAnswer } from '../../harness/apps/app-client.ts';
import { stopApp } from '../../harness/apps/apps.ts';
import { launchMachine, startWebApp, type WebApp } from '../../harness/apps/web-app.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { CookieBrowser } from '../../harness/sign-in/cookie-browser.ts';

const PORT = 8000;
const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
};
let platform: TestPlatform;
let allocation: Allocation;
let app: WebApp;
let sibling: WebApp;
let client: AppClient;
let ownerId: string;

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  allocation = await launchMachine(platform);
  ownerId = (await unwrap(platform.member.GET('/api/v1/me'))).user!.id;
  app = await startWebApp(platform, allocation, { slug: 'notes', port: PORT });
  sibling = await startWebApp(platform, allocation, { slug: 'other', port: PORT + 1 });
  client = new AppClient(platform.appsPort, app.label);
});
afterAll(() => platform?.stop());

const params = () => ({ path: { app_instance_id: app.instanceId } });

/** The ticket's URL, and the nonce that the app's host gave the browser first. */
async function askForTicket(
  { email = 'member@acme.test', password = 'member-demo', path = '/page?x=1' } = {},
  browser = new CookieBrowser({ stopsAt: `http://${client.host}` }),
): Promise<{ enter: URL; nonce: string; browser: CookieBrowser; refusal: number }> {
  const asked = await client.call(path, { headers: NAVIGATION });
  const nonce = asked.headers['set-cookie']![0]!.split(';')[0]!;
  let page = await browser.go(asked.headers.location!);
  if (page.html.includes('<form')) page = await browser.submit(page, { email, password });
  return { enter: new URL(page.url), nonce, browser, refusal: page.status };
}

async function enter(url: URL, cookie: string, host = client): Promise<AppAnswer> {
  return await host.call(`${url.pathname}${url.search}`, { headers: { ...NAVIGATION, cookie } });
}

async function signIn(): Promise<{ cookie: string; browser: CookieBrowser }> {
  const { enter: url, nonce, browser } = await askForTicket();
  const entered = await enter(url, nonce);
  expect(entered.status).toBe(303);
  return { cookie: entered.headers['set-cookie']![0]!.split(';')[0]!, browser };
}

async function openSocket(headers: Record<string, string>, at = client): Promise<WebSocket> {
  const socket = at.webSocket('/ws', headers);
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return socket;
}

/** Five seconds are promised; a machine that is busy with other tests takes several times that. */
async function expectCut(socket: WebSocket): Promise<void> {
  const since = performance.now();
  if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
  expect(performance.now() - since).toBeLessThan(30_000);
}

describe('signing in to an app', () => {
  it('leads through the console and back to the page', async () => {
    const { enter: url, nonce } = await askForTicket();
    expect(`${url.host}${url.pathname}`).toBe(`${client.host}/.gpuaas/enter`);
    const entered = await enter(url, nonce);
    expect(entered).toMatchObject({
      status: 303,
      headers: { location: '/page?x=1', 'cache-control': 'no-store' },
    });
    expect(entered.headers['set-cookie']![0]).toMatch(
      /^__Host-gpuaas_app=[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Lax/,
    );
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
    const page = await client.call('/page', { headers: { ...NAVIGATION, cookie } });
    expect(page.text).toContain('page of the app');
    const seen = await client.call('/', { headers: { ...NAVIGATION, cookie: `${cookie}; own=1` } });
    expect(JSON.parse(seen.text)).toMatchObject({ headers: { cookie: 'own=1', 'x-gpuaas-user': ownerId } });
  });

  it('takes a ticket once, in the browser that asked, at the app it is for', async () => {
    const used = await askForTicket();
    expect((await enter(used.enter, used.nonce)).status).toBe(303);
    expect((await enter(used.enter, used.nonce)).status).toBe(403);
    const stolen = await askForTicket();
    expect((await enter(stolen.enter, `__Host-gpuaas_try=${'a'.repeat(43)}`)).status).toBe(403);
    expect((await enter(stolen.enter, stolen.nonce)).status).toBe(403);
    const elsewhere = await askForTicket();
    const other = new AppClient(platform.appsPort, sibling.label);
    expect((await enter(elsewhere.enter, elsewhere.nonce, other)).status).toBe(403);
  });

  it('is refused to people who may not use the app', async () => {
    const { refusal } = await askForTicket({ email: 'member@globex.test', password: 'globex-demo' });
    expect(refusal).toBe(403);
    const { rows } = await sql<{ result: string }>`select distinct result from audit_logs
      where action = 'app_instance.open' and target_id = ${app.instanceId} order by 1`.execute(
      platform.services.db,
    );
    expect(rows.map(({ result }) => result)).toEqual(['denied', 'succeeded']);
  });

  it('never leads to another site', async () => {
    const { enter: url, nonce } = await askForTicket();
    url.searchParams.set('to', '//evil.example/');
    expect((await enter(url, nonce)).headers.location).toBe('/');
  });
});

describe('a request with the cookie', () => {
  it('must come from a page of the app, or be a person who opens one', async () => {
    const { cookie } = await signIn();
    const ask = async (method: string, headers: Record<string, string>) =>
      (await client.call('/x', { method, headers: { cookie, ...headers } })).status;
    const own = `http://${client.host}`;
    expect(await ask('GET', { 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await ask('POST', { origin: own, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await ask('GET', { ...NAVIGATION, 'sec-fetch-site': 'cross-site' })).toBe(200);
    const sibling_ = `http://${sibling.label}.localhost:${platform.appsPort}`;
    expect(await ask('POST', { origin: sibling_, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await ask('GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' })).toBe(403);
    expect(
      await ask('GET', { ...NAVIGATION, 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'iframe' }),
    ).toBe(403);
    expect(await ask('POST', { ...NAVIGATION, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await ask('GET', {})).toBe(403);
    await expect(openSocket({ cookie, origin: sibling_ })).rejects.toThrow('403');
    (await openSocket({ cookie, origin: own })).terminate();
  });

  it('opens no other app', async () => {
    const { cookie } = await signIn();
    const other = new AppClient(platform.appsPort, sibling.label);
    expect((await other.call('/', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status).toBe(
      401,
    );
  });
});

describe('what is open is cut', () => {
  it('when the sign-in at the console ends; the next page leads to the sign-in', async () => {
    const { cookie, browser } = await signIn();
    const socket = await openSocket({ cookie, origin: `http://${client.host}` });
    const me = await fetch(`${platform.baseUrl}/api/v1/me`, {
      headers: { cookie: browser.header(`${platform.baseUrl}/`) },
    });
    const { csrf_token } = (await me.json()) as { csrf_token: string };
    await fetch(`${platform.baseUrl}/auth/logout`, {
      method: 'POST',
      headers: { cookie: browser.header(`${platform.baseUrl}/`), 'x-csrf-token': csrf_token },
    });
    await expectCut(socket);
    expect((await client.call('/page', { headers: { ...NAVIGATION, cookie } })).status).toBe(303);
  });

  it('when an API key is revoked; other visitors stay', async () => {
    const { api_key, secret } = await unwrap(
      platform.member.POST('/api/v1/api-keys', {
        body: { name: 'app', organization_id: allocation.organization_id },
      }),
    );
    const revoked = await openSocket({ authorization: `Bearer ${secret}` });
    const other = await openSocket({ authorization: `Bearer ${platform.keys.member}` });
    await unwrap(
      platform.member.DELETE('/api/v1/api-keys/{api_key_id}', {
        params: { path: { api_key_id: api_key.id } },
      }),
    );
    await expectCut(revoked);
    expect((await client.call('/', { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
    expect(other.readyState).toBe(other.OPEN);
    other.terminate();
  });

  it('when an app is shared no more with the project', async () => {
    const admin = { authorization: `Bearer ${platform.keys.admin}` };
    const share = (sharing: 'owner' | 'project', by = platform.member) =>
      unwrap(
        by.PUT('/api/v1/app-instances/{app_instance_id}/address', { params: params(), body: { sharing } }),
      );
    expect((await client.call('/', { headers: admin })).status).toBe(403);
    await expect(share('project', platform.admin)).rejects.toMatchObject({ code: 'app_of_another_person' });
    expect(await share('project')).toMatchObject({
      label: app.label,
      url: `http://${client.host}/`,
      program_url: `${platform.baseUrl}/serve/${app.label}/`,
      sharing: 'project',
    });
    const socket = await openSocket(admin);
    await share('owner');
    await expectCut(socket);
    expect((await client.call('/', { headers: admin })).status).toBe(403);
  });

  it('when the instance is stopped, and when its allocation is released', async () => {
    const key = { authorization: `Bearer ${platform.keys.member}` };
    const stopped = await openSocket(key);
    await stopApp(platform.member, app.instanceId);
    await expectCut(stopped);
    const status = async (at: AppClient) => (await at.call('/', { headers: key })).status;
    // The machine may cut before the gateway has read that the app ends.
    await expect.poll(() => status(client), { timeout: 30_000 }).toBe(503);
    const other = new AppClient(platform.appsPort, sibling.label);
    const released = await openSocket(key, other);
    await release(platform.member, allocation.id);
    await expectCut(released);
    await expect.poll(() => status(other), { timeout: 30_000 }).toBe(503);
  });
});
