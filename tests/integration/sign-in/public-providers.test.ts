import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeGitHub, type FakeGitHub } from '../../harness/sign-in/fake-github.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { CookieBrowser } from '../../harness/sign-in/cookie-browser.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../../harness/sign-in/identity-provider.ts';
import { startSite, type TestSite } from '../../harness/sign-in/signed-in-site.ts';

const address = (email: string, rest: { primary?: boolean; verified?: boolean } = {}) => ({
  email,
  primary: true,
  verified: true,
  visibility: 'private',
  ...rest,
});
const guest = { sub: 'g-1', email: 'guest@gmail.example', name: 'A Guest', password: 'pw' };

let site: TestSite;
let google: TestIdentityProvider;
let github: FakeGitHub;
beforeAll(async () => {
  const port = await freePort();
  const callback = `http://127.0.0.1:${port}/auth/callback`;
  google = await startIdentityProvider({ redirectUri: `${callback}/public/google`, people: [guest] });
  github = await startFakeGitHub(`${callback}/public/github`, {
    id: 583231,
    login: 'octo',
    name: 'Octo Cat',
    emails: [address('old@example.test', { primary: false }), address('octo@example.test')],
  });
  const publicProviders = [
    {
      name: 'github' as const,
      clientId: github.clientId,
      clientSecret: github.clientSecret,
      url: github.url,
    },
    {
      name: 'google' as const,
      clientId: google.clientId,
      clientSecret: google.clientSecret,
      url: google.issuer,
    },
  ];
  site = await startSite({ port, publicProviders });
});
afterAll(async () => {
  await site?.stop();
  await google?.stop();
  await github?.stop();
});

const login = (query: string): string => `${site.url}/auth/login?return_to=/healthz&${query}`;

async function me(browser: CookieBrowser) {
  const answer = await site.send(browser, 'GET', '/api/v1/me');
  return (await answer.json()) as {
    user: { email: string; name: string };
    organizations: { name: string }[];
  };
}

describe('Google and GitHub', () => {
  it('are offered beside the own provider, in one order', async () => {
    const answer = await fetch(`${site.url}/api/v1/auth/configuration`);
    expect(await answer.json()).toMatchObject({
      issuer: site.idp.issuer,
      public_providers: ['google', 'github'],
    });
    const browser = new CookieBrowser({ stopsAt: `${site.url}/sign-in` });
    const page = await browser.go(login(''));
    expect(page.url).toBe(`${site.url}/sign-in?return_to=%2Fhealthz`);
    const own = await new CookieBrowser().go(login('provider=platform'));
    expect(own.url.startsWith(site.idp.issuer)).toBe(true);
  });

  it('sign people in, each account as a separate person', async () => {
    const atGoogle = new CookieBrowser();
    const page = await atGoogle.go(login('provider=google'));
    expect(page.url.startsWith(google.issuer)).toBe(true);
    const back = await atGoogle.submit(page, { email: guest.email, password: guest.password });
    expect(back).toMatchObject({ status: 200, url: `${site.url}/healthz` });
    expect(await me(atGoogle)).toMatchObject({
      user: { email: guest.email },
      organizations: [{ name: "A Guest's organization" }],
    });
    github.user.emails = [address(guest.email)];
    const atGitHub = new CookieBrowser();
    expect(await atGitHub.go(login('provider=github'))).toMatchObject({ url: `${site.url}/healthz` });
    expect(await me(atGitHub)).toMatchObject({ user: { email: guest.email, name: 'Octo Cat' } });
    const people = await site.api.services.db
      .selectFrom('users')
      .select(['issuer', 'subject', 'email_verified'])
      .where('email', '=', guest.email)
      .orderBy('subject')
      .execute();
    expect(people).toEqual([
      { issuer: github.url, subject: '583231', email_verified: true },
      { issuer: google.issuer, subject: guest.sub, email_verified: true },
    ]);
  });

  it('prove an address only if they say that it is verified', async () => {
    github.user = {
      ...github.user,
      id: 7,
      name: null,
      emails: [address('boss@example.test', { verified: false })],
    };
    const browser = new CookieBrowser();
    expect((await browser.go(login('provider=github'))).status).toBe(200);
    const { email, email_verified, name } = await site.api.services.db
      .selectFrom('users')
      .select(['email', 'email_verified', 'name'])
      .where('subject', '=', '7')
      .executeTakeFirstOrThrow();
    expect({ email, email_verified, name }).toEqual({
      email: 'boss@example.test',
      email_verified: false,
      name: 'octo',
    });
  });

  it('sign out here: neither has a page for it', async () => {
    const browser = new CookieBrowser();
    await browser.go(login('provider=github'));
    const { csrf } = await site.me(browser);
    const headers = { 'x-csrf-token': csrf, origin: site.url };
    const answer = await site.send(browser, 'POST', '/auth/logout', headers);
    expect(await answer.json()).toEqual({ redirect_to: null });
    expect((await site.me(browser)).status).toBe(401);
  });
});

describe('the answer of a public provider', () => {
  it('counts once, in the browser that asked, at the callback of the provider that was asked', async () => {
    const asking = new CookieBrowser({ stopsAt: github.callback });
    const { url: answered } = await asking.go(login('provider=github'));
    const elsewhere = await new CookieBrowser().go(answered);
    expect(elsewhere.status).toBe(400);
    const crossed = new CookieBrowser();
    crossed.cookies.push(...asking.cookies);
    expect((await crossed.go(answered.replace('/public/github', '/public/google'))).html).toContain(
      'login_failed',
    );
    const late = new CookieBrowser();
    late.cookies.push(...asking.cookies);
    expect((await late.go(answered)).html).toContain('login_failed');
    expect(late.cookie('gpuaas_sign_in')).toBeUndefined();
  });

  it('is refused without an exchange that the provider confirms', async () => {
    const secret = github.clientSecret;
    github.clientSecret = 'changed';
    const refused = new CookieBrowser();
    expect((await refused.go(login('provider=github'))).html).toContain('did not confirm the sign-in');
    github.clientSecret = secret;
    const invented = new CookieBrowser({ stopsAt: github.callback });
    const { url } = await invented.go(login('provider=github'));
    const callback = new URL(url);
    callback.searchParams.set('code', 'invented');
    const second = new CookieBrowser();
    second.cookies.push(...invented.cookies);
    expect((await second.go(callback.href)).html).toContain('did not confirm the sign-in');
    const denied = await site.api.services.db
      .selectFrom('audit_logs')
      .select('result')
      .where('action', '=', 'sign_in.begin')
      .where('result', '=', 'denied')
      .execute();
    expect(denied.length).toBeGreaterThanOrEqual(2);
  });

  it('is no token for the API', async () => {
    const token = await google.sign({ sub: guest.sub });
    const answer = await fetch(`${site.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
  });
});

it('a platform without them sends the browser straight to its provider, and refuses their names', async () => {
  const plain = await startSite();
  const direct = await new CookieBrowser().go(`${plain.url}/auth/login?return_to=/healthz`);
  expect(direct.url.startsWith(plain.idp.issuer)).toBe(true);
  const named = await new CookieBrowser().go(`${plain.url}/auth/login?provider=github`);
  expect(named.html).toContain('login_failed');
  await plain.stop();
});
