import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDevIdp } from './dev-idp.ts';
import type { DevIdp } from './dev-idp.ts';

const REDIRECT_URI = 'http://127.0.0.1:9/callback';
const SECRET = 'console-secret-console-secret-console';
const ada = {
  sub: 'person-ada',
  email: 'ada@example.test',
  name: 'Ada <b>Admin</b>',
  password: 'correct & horse',
};
const bob = { sub: 'person-bob', email: 'bob@example.test', name: 'Bob', password: 'battery' };

let folder: string;
let server: Server;
let idp: DevIdp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-idp-'));
  server = createServer((req, res) => idp.handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  idp = await start(`http://127.0.0.1:${port}/idp`);
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

function start(issuer: string): Promise<DevIdp> {
  return createDevIdp({
    issuer,
    people: [ada, bob],
    keyFile: join(folder, 'keys.json'),
    clients: { consoleRedirectUri: REDIRECT_URI, consoleClientSecret: SECRET },
  });
}

type Page = { url: string; status: number; html: string; headers: Headers };

/** A browser with cookies and no scripts; stops at pages and at the console's callback. */
function openBrowser() {
  const cookies = new Map<string, { value: string; path: string }>();
  async function go(url: string, form?: Record<string, string>, hops = 0): Promise<Page> {
    if (hops > 10) throw new Error(`redirected endlessly, now to ${url}`);
    if (url.startsWith(REDIRECT_URI)) return { url, status: 0, html: '', headers: new Headers() };
    const path = new URL(url).pathname;
    const sent = [...cookies].filter(([, cookie]) => path.startsWith(cookie.path));
    const response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: {
        accept: 'text/html',
        cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; '),
      },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, { value, path: /path=([^;]+)/i.exec(line)?.[1] ?? '/' });
      else cookies.delete(name);
    }
    const location = response.headers.get('location');
    if (location !== null) return go(new URL(location, url).href, undefined, hops + 1);
    return { url, status: response.status, html: await response.text(), headers: response.headers };
  }
  const submit = (page: Page, fields: Record<string, string>): Promise<Page> => {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.html)?.[1] ?? '';
    const hidden = Object.fromEntries(
      [.../name="(xsrf|user_code|confirm)" value="([^"]*)"/g[Symbol.matchAll](page.html)].map((match) => [
        match[1] ?? '',
        match[2] ?? '',
      ]),
    );
    return go(new URL(action, page.url).href, { ...hidden, ...fields });
  };
  return { go, submit, cookies };
}

function authorizationUrl(more: Record<string, string> = {}): { url: string; verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: 'gpuaas-console',
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid email profile api',
    state: 'the-state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  });
  return { url: `${idp.issuer}/auth?${query}`, verifier };
}

type Tokens = { access_token: string; id_token: string; refresh_token: string; error?: string };

async function askToken(form: Record<string, string>): Promise<{ status: number; tokens: Tokens }> {
  const response = await fetch(`${idp.issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, tokens: (await response.json()) as Tokens };
}

function exchange(code: string, verifier: string) {
  return askToken({
    grant_type: 'authorization_code',
    client_id: 'gpuaas-console',
    client_secret: SECRET,
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
  });
}

async function verify(token: string) {
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
  return jwtVerify(token, keys, { issuer: idp.issuer, audience: 'urn:gpuaas:api', typ: 'at+jwt' });
}

const signInAs = ({ email, password }: { email: string; password: string }) => ({ email, password });

function expectNothingFromOutside({ html }: Page): void {
  const hosts = [...html.matchAll(/(?:https?:)?\/\/[a-z0-9.-]+(?::\d+)?/gi)].map(([found]) => found);
  expect(hosts.filter((host) => !idp.issuer.startsWith(host))).toEqual([]);
  expect(html).not.toMatch(/@import|<link|<script src/i);
}

test('discovery names URLs below the mount path, for any requested host', async () => {
  const response = await fetch(`${idp.issuer}/.well-known/openid-configuration`, {
    headers: { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' },
  });
  const found = (await response.json()) as Record<string, unknown>;
  for (const name of [
    'authorization_endpoint',
    'token_endpoint',
    'jwks_uri',
    'device_authorization_endpoint',
  ]) {
    expect(found[name]).toMatch(new RegExp(`^${idp.issuer}/`));
  }
  expect(found['issuer']).toBe(idp.issuer);
});

test('a person signs in with code and PKCE, and the code works once', async () => {
  const browser = openBrowser();
  const { url, verifier } = authorizationUrl();
  const callback = await browser.submit(await browser.go(url), signInAs(ada));
  const answer = new URL(callback.url).searchParams;
  expect(answer.get('state')).toBe('the-state');

  const { tokens } = await exchange(answer.get('code') ?? '', verifier);
  const { payload } = await verify(tokens.access_token);
  const claims = { sub: ada.sub, email: ada.email, email_verified: true, name: ada.name };
  expect(payload).toMatchObject({ ...claims, client_id: 'gpuaas-console', scope: 'api' });
  expect(decodeJwt(tokens.id_token)).toMatchObject({ ...claims, aud: 'gpuaas-console' });

  const refresh = { grant_type: 'refresh_token', client_id: 'gpuaas-console', client_secret: SECRET };
  const refreshed = await askToken({ ...refresh, refresh_token: tokens.refresh_token });
  expect((await verify(refreshed.tokens.access_token)).payload.sub).toBe(ada.sub);

  const replay = await exchange(answer.get('code') ?? '', verifier);
  expect(replay).toMatchObject({ status: 400, tokens: { error: 'invalid_grant' } });

  const again = authorizationUrl();
  expect((await browser.go(again.url)).url).toMatch(/[?&]code=/);
});

test('a request for consent is granted without a question', async () => {
  const browser = openBrowser();
  const { url } = authorizationUrl({ prompt: 'login consent', scope: 'openid offline_access api' });
  expect((await browser.submit(await browser.go(url), signInAs(bob))).url).toMatch(/[?&]code=/);
});

test('a wrong password shows an error, no code, and reflects nothing unescaped', async () => {
  const browser = openBrowser();
  const page = await browser.go(authorizationUrl({ login_hint: '"><script>x' }).url);
  expect(page.html).not.toContain('<script>');
  for (const fields of [
    { email: ada.email, password: 'no' },
    { email: '"><img>', password: '' },
  ]) {
    const refused = await browser.submit(page, fields);
    expect(refused.status).toBe(401);
    expect(refused.url).toMatch(/\/idp\/interaction\//);
    expect(refused.html).toContain('Email or password is wrong.');
    expect(refused.html).not.toMatch(/<img>|<b>Admin/);
    expectNothingFromOutside(refused);
  }
  expect((await browser.submit(page, signInAs(ada))).url).toMatch(/[?&]code=/);
});

test('cancelling goes back to the console with access_denied', async () => {
  const browser = openBrowser();
  const callback = await browser.submit(await browser.go(authorizationUrl().url), { cancel: 'yes' });
  expect(new URL(callback.url).searchParams.get('error')).toBe('access_denied');
});

test('a code without PKCE, another redirect and a wrong client secret are refused', async () => {
  const browser = openBrowser();
  const { url, verifier } = authorizationUrl();
  const bare = new URL(url);
  bare.searchParams.delete('code_challenge');
  bare.searchParams.delete('code_challenge_method');
  expect((await browser.go(bare.href)).url).toMatch(/error=invalid_request/);

  const elsewhere = await browser.go(authorizationUrl({ redirect_uri: 'http://evil.test/' }).url);
  expect(elsewhere.status).toBe(400);
  expectNothingFromOutside(elsewhere);

  const wrong = { client_secret: 'wrong', client_id: 'gpuaas-console', code: 'x', code_verifier: verifier };
  const answer = await askToken({ grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, ...wrong });
  expect(answer.status).toBe(401);
});

test('a foreign interaction cannot be answered', async () => {
  const page = await openBrowser().go(authorizationUrl().url);
  const stranger = await openBrowser().submit(page, signInAs(ada));
  expect(stranger.status).toBe(400);
  expect(stranger.html).toContain('expired or was started elsewhere');
});

test('the command line signs in by device code', async () => {
  const begin = await fetch(`${idp.issuer}/device/auth`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'gpuaas-cli', scope: 'openid email profile api' }),
  });
  const device = (await begin.json()) as { device_code: string; user_code: string; verification_uri: string };
  const poll = () =>
    askToken({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'gpuaas-cli',
      device_code: device.device_code,
    });
  expect((await poll()).tokens.error).toBe('authorization_pending');

  const browser = openBrowser();
  const input = await browser.go(device.verification_uri);
  const refused = await browser.submit(input, { user_code: 'WRONG' });
  expect(refused.html).toContain('That code is wrong');
  const confirm = await browser.submit(refused, { user_code: device.user_code });
  expect(confirm.html).toContain(device.user_code);
  const signIn = await browser.submit(confirm, {});
  const done = await browser.submit(signIn, signInAs(bob));
  expect(done.html).toContain('Device connected');
  for (const page of [input, refused, confirm, signIn, done]) expectNothingFromOutside(page);

  const { tokens } = await poll();
  expect((await verify(tokens.access_token)).payload).toMatchObject({
    sub: bob.sub,
    client_id: 'gpuaas-cli',
  });
  const refresh = {
    grant_type: 'refresh_token',
    client_id: 'gpuaas-cli',
    refresh_token: tokens.refresh_token,
  };
  expect((await askToken(refresh)).status).toBe(200);
});

test('signing out asks first and ends the sign-in', async () => {
  const browser = openBrowser();
  await browser.submit(await browser.go(authorizationUrl().url), signInAs(ada));
  const ask = await browser.go(`${idp.issuer}/session/end`);
  expect(ask.html).toContain('Sign out?');
  const done = await browser.submit(ask, { logout: 'yes' });
  expect(done.html).toContain('You are signed out');
  for (const page of [ask, done]) expectNothingFromOutside(page);
  expect((await browser.go(authorizationUrl().url)).html).toContain('Sign in');
});

test('pages allow no scripts and no framing, and cookies stay below the mount path', async () => {
  const browser = openBrowser();
  const page = await browser.go(authorizationUrl().url);
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(page.html).not.toMatch(/<script|\son[a-z]+=|style="/i);
  await browser.submit(page, signInAs(ada));
  expect([...browser.cookies.values()].every(({ path }) => path.startsWith('/idp'))).toBe(true);
});

test('signing keys are private and outlive a restart', async () => {
  const path = join(folder, 'keys.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const before = await readFile(path, 'utf8');
  await start(idp.issuer);
  expect(await readFile(path, 'utf8')).toBe(before);
  const published = await (await fetch(`${idp.issuer}/jwks`)).text();
  expect(published).not.toContain('"d"');
});
