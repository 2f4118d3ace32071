import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '@gpuaas/sdk/contract';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { CookieBrowser } from '../../harness/sign-in/cookie-browser.ts';
import { visitor } from '../../harness/sign-in/identity-provider.ts';
import { startSite, type TestSite } from '../../harness/sign-in/signed-in-site.ts';

type SignIn = components['schemas']['SignIn'];

const COOKIE = 'gpuaas_sign_in';
const colleague = { sub: 'colleague', email: 'colleague@example.test', name: 'Colleague', password: 'pw-2' };

let site: TestSite;
beforeAll(async () => {
  site = await startSite({ people: [visitor, colleague] });
});
afterAll(() => site?.stop());

async function signedIn(person = visitor): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  const page = await site.signIn(browser, { person });
  expect(page).toMatchObject({ status: 200, url: `${site.url}/healthz` });
  return browser;
}

async function signInsOf(browser: CookieBrowser): Promise<SignIn[]> {
  const answer = await site.send(browser, 'GET', '/api/v1/sign-ins');
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { items: SignIn[] }).items;
}

async function loginAudits(result: 'denied' | 'succeeded'): Promise<{ detail: unknown }[]> {
  return await site.api.services.db
    .selectFrom('audit_logs')
    .select('detail')
    .where('action', '=', 'sign_in.begin')
    .where('result', '=', result)
    .execute();
}

describe('signing in', () => {
  it('goes to the provider with PKCE, state and nonce, and comes back with a sign-in', async () => {
    const before = (await loginAudits('succeeded')).length;
    const browser = await signedIn();
    const asked = new URL(browser.visited.find((url) => url.startsWith(`${site.idp.issuer}/auth?`))!);
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) {
      expect(asked.searchParams.get(name)!.length).toBeGreaterThanOrEqual(43);
    }
    const { attributes } = browser.cookie(COOKIE)!;
    expect(attributes).toMatch(/; HttpOnly/);
    expect(attributes).toMatch(/; SameSite=Lax/);
    expect(browser.cookie('gpuaas_login')).toBeUndefined();
    expect(await site.me(browser)).toMatchObject({ status: 200, email: visitor.email });
    expect(await loginAudits('succeeded')).toHaveLength(before + 1);
  });

  it('cannot be repeated with the same answer of the provider', async () => {
    const browser = new CookieBrowser({ stopsAt: `${site.url}/auth/callback` });
    const { url } = await site.signIn(browser);
    const state = new URL(url).searchParams.get('state')!;
    const finish = () => fetch(url, { redirect: 'manual', headers: { cookie: `gpuaas_login=${state}` } });
    expect((await finish()).status).toBe(302);
    const replay = await finish();
    expect(replay.status).toBe(400);
    expect(await replay.json()).toMatchObject({ code: 'login_failed' });
    expect(replay.headers.getSetCookie().join()).not.toContain(COOKIE);
  });

  it('with a code that was used is denied by the provider, and that is on record', async () => {
    const browser = new CookieBrowser({ stopsAt: `${site.url}/auth/callback` });
    const first = new URL((await site.signIn(browser)).url);
    const second = new URL((await site.signIn(browser)).url);
    const cookie = (url: URL) => ({ cookie: `gpuaas_login=${url.searchParams.get('state')}` });
    expect((await fetch(first, { redirect: 'manual', headers: cookie(first) })).status).toBe(302);
    const denied = (await loginAudits('denied')).length;
    second.searchParams.set('code', first.searchParams.get('code')!);
    const stolen = await fetch(second, { redirect: 'manual', headers: cookie(second) });
    expect(stolen.status).toBe(400);
    expect(await loginAudits('denied')).toHaveLength(denied + 1);
  });

  it('that another browser started is refused, so that no one is signed in as another person', async () => {
    const attacker = new CookieBrowser({ stopsAt: `${site.url}/auth/callback` });
    const { url } = await site.signIn(attacker);
    const victim = new CookieBrowser();
    expect(await victim.go(url)).toMatchObject({ status: 400 });
    await victim.go(`${site.url}/auth/login`);
    expect(await victim.go(url)).toMatchObject({ status: 400 });
    expect(victim.cookie(COOKIE)).toBeUndefined();
    expect(await loginAudits('denied')).not.toEqual([]);
  });

  it('is denied and recorded when the person cancels', async () => {
    const denied = (await loginAudits('denied')).length;
    const browser = new CookieBrowser();
    const page = await browser.go(`${site.url}/auth/login`);
    expect(await browser.submit(page, { cancel: 'yes' })).toMatchObject({ status: 400 });
    expect(await loginAudits('denied')).toHaveLength(denied + 1);
  });

  it('gives a new sign-in, whatever the browser brought, and ends the one before', async () => {
    const browser = new CookieBrowser();
    browser.plant(COOKIE, 'known-to-an-attacker');
    await site.signIn(browser);
    const first = browser.cookie(COOKIE)!.value;
    expect(first).not.toBe('known-to-an-attacker');
    const planted = new CookieBrowser();
    planted.plant(COOKIE, 'known-to-an-attacker');
    expect((await site.me(planted)).status).toBe(401);
    await site.signIn(browser);
    expect(browser.cookie(COOKIE)!.value).not.toBe(first);
    planted.plant(COOKIE, first);
    expect((await site.me(planted)).status).toBe(401);
    expect((await site.me(browser)).status).toBe(200);
  });
});

describe('the way back', () => {
  it('leads to the page that was asked for', async () => {
    const page = await site.signIn(new CookieBrowser(), { returnTo: '/healthz?from=%2Fallocations' });
    expect(page).toMatchObject({ status: 200, url: `${site.url}/healthz?from=%2Fallocations` });
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', 'evil.example'])(
    'never leads to %j',
    async (returnTo) => {
      const answer = await fetch(`${site.url}/auth/login?return_to=${encodeURIComponent(returnTo)}`, {
        redirect: 'manual',
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'invalid_request' });
    },
  );

  it.each(['/.//evil.example/x', '/%2F%2Fevil.example', '/%09/evil.example'])(
    '%s stays on this site',
    async (returnTo) => {
      const page = await site.signIn(new CookieBrowser(), { returnTo });
      expect(new URL(page.url).origin).toBe(site.url);
    },
  );
});

describe('a sign-in', () => {
  it('changes nothing without its CSRF token', async () => {
    const browser = await signedIn();
    const { csrf } = await site.me(browser);
    const other = await site.me(await signedIn());
    for (const token of [undefined, '', 'x'.repeat(csrf.length), other.csrf]) {
      const headers = token === undefined ? {} : { 'x-csrf-token': token };
      const answer = await site.send(browser, 'POST', '/api/v1/sign-ins/revoke-others', headers);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'csrf_token_invalid' });
    }
    expect((await signInsOf(browser)).length).toBeGreaterThan(1);
    const done = await site.send(browser, 'POST', '/api/v1/sign-ins/revoke-others', { 'x-csrf-token': csrf });
    expect(done.status).toBe(200);
    expect(await signInsOf(browser)).toHaveLength(1);
  });

  it('is seen by its owner alone, and revoked at the next request', async () => {
    const [here, there] = [await signedIn(colleague), await signedIn(colleague)];
    const signIns = await signInsOf(here);
    expect(signIns).toHaveLength(2);
    expect(signIns[0]).toMatchObject({ current: false, user_agent: 'CookieBrowser/1', ip: '127.0.0.1' });
    expect(signIns[1]).toMatchObject({ current: true });
    const path = `/api/v1/sign-ins/${signIns[0]!.id}`;
    const stranger = await signedIn();
    expect((await signInsOf(stranger)).map(({ id }) => id)).not.toContain(signIns[0]!.id);
    const foreign = await site.send(stranger, 'DELETE', path, {
      'x-csrf-token': (await site.me(stranger)).csrf,
    });
    expect(foreign.status).toBe(404);
    expect((await site.me(there)).status).toBe(200);
    const own = await site.send(here, 'DELETE', path, { 'x-csrf-token': (await site.me(here)).csrf });
    expect(own.status).toBe(204);
    expect((await site.me(there)).status).toBe(401);
    expect((await site.me(here)).status).toBe(200);
  });

  it('takes its event stream with it, within five seconds on a machine that is not busy', async () => {
    const browser = await signedIn();
    const { csrf } = await site.me(browser);
    const request = httpGet(`${site.url}/api/v1/events/stream`, {
      headers: { cookie: browser.header(site.url) },
    });
    const [stream] = (await once(request, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
    expect(stream.statusCode).toBe(200);
    stream.resume();
    const ended = once(stream, 'end').then(() => performance.now());
    const [current] = (await signInsOf(browser)).filter((signIn) => signIn.current);
    const revoked = await site.send(browser, 'DELETE', `/api/v1/sign-ins/${current!.id}`, {
      'x-csrf-token': csrf,
    });
    const revokedAt = performance.now();
    expect(revoked.status).toBe(204);
    expect((await ended) - revokedAt).toBeLessThan(30_000);
  });

  it('ends when it is not used, and when it is too old', async () => {
    const { db } = site.api.services;
    for (const change of [
      { last_used_at: new Date(Date.now() - 4 * 3_600_000 - 60_000) },
      { expires_at: new Date(Date.now() - 1000) },
    ]) {
      const browser = await signedIn();
      const [current] = (await signInsOf(browser)).filter((signIn) => signIn.current);
      await db.updateTable('sign_ins').set(change).where('id', '=', current!.id).execute();
      expect((await site.me(browser)).status).toBe(401);
      expect((await signInsOf(await signedIn())).map(({ id }) => id)).not.toContain(current!.id);
    }
  });

  it('lives on while it is used', async () => {
    const { db } = site.api.services;
    const browser = await signedIn();
    const [current] = (await signInsOf(browser)).filter((signIn) => signIn.current);
    const long = new Date(Date.now() - 3 * 3_600_000);
    await db.updateTable('sign_ins').set({ last_used_at: long }).where('id', '=', current!.id).execute();
    expect((await site.me(browser)).status).toBe(200);
    await expect
      .poll(async () => (await signInsOf(browser)).find(({ id }) => id === current!.id)?.last_used_at)
      .not.toBe(long.toISOString());
  });
});

describe('signing out', () => {
  it('ends the sign-in here and, through its page, at the provider', async () => {
    const browser = await signedIn();
    const former = browser.cookie(COOKIE)!.value;
    const { csrf } = await site.me(browser);
    const answer = await site.send(browser, 'POST', '/auth/logout', { 'x-csrf-token': csrf });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie().join()).toMatch(new RegExp(`${COOKIE}=;`));
    const { redirect_to: redirectTo } = (await answer.json()) as { redirect_to: string };
    const there = new URL(redirectTo);
    expect(redirectTo.startsWith(`${site.idp.issuer}/`)).toBe(true);
    expect(there.searchParams.get('post_logout_redirect_uri')).toBe(`${site.url}/`);
    expect(there.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    browser.plant(COOKIE, former);
    expect((await site.me(browser)).status).toBe(401);
    const again = await browser.go(`${site.url}/auth/login`);
    expect(again.url.startsWith(site.url)).toBe(true);
    const back = await browser.submit(await browser.go(redirectTo), { logout: 'yes' });
    expect(back.url).toBe(`${site.url}/`);
    expect((await browser.go(`${site.url}/auth/login`)).html).toContain('Sign in');
  });
});

describe('under https', () => {
  let secure: TestApi;
  beforeAll(async () => {
    secure = await createTestApi({
      publicUrl: 'https://gpu.example.test',
      oidc: {
        issuer: site.idp.issuer,
        clientId: site.idp.clientId,
        clientSecret: site.idp.clientSecret,
        cliClientId: null,
        audience: 'urn:gpuaas:api',
        scopes: 'openid',
        redirectUri: 'https://gpu.example.test/auth/callback',
      },
      trustedProxies: ['127.0.0.1'],
    });
  });
  afterAll(() => secure?.stop());

  it('cookies are Secure and bound to this host', async () => {
    const answer = await secure.server.inject({
      url: '/auth/login',
      headers: { host: 'gpu.example.test' },
    });
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^__Host-gpuaas_login=.*; Path=\/; HttpOnly; Secure; SameSite=Lax/);
    expect(cookie).not.toMatch(/domain=/i);
  });

  it('a trusted proxy says which host was asked for; a browser elsewhere is sent to the right one', async () => {
    const behind = await secure.server.inject({
      url: '/auth/login',
      headers: {
        host: '10.0.0.1:8080',
        'x-forwarded-host': 'gpu.example.test',
        'x-forwarded-proto': 'https',
      },
    });
    expect(behind.headers.location).toMatch(new RegExp(`^${site.idp.issuer}/auth`));
    const elsewhere = await secure.server.inject({
      url: '/auth/login?return_to=/x',
      headers: { host: 'other.example.test' },
    });
    expect(elsewhere.headers.location).toBe('https://gpu.example.test/auth/login?return_to=/x');
  });
});

describe('the embedded provider', () => {
  it('does not exist beside an external one', async () => {
    for (const path of [
      '/idp',
      '/idp/.well-known/openid-configuration',
      '/idp/jwks',
      '/idp/device',
      '/idp/auth',
    ]) {
      const answer = await fetch(`${site.url}${path}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found' });
    }
  });
});
