import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useCli } from '../../harness/cli/cli.ts';
import { CookieBrowser } from '../../harness/sign-in/cookie-browser.ts';
import { visitor } from '../../harness/sign-in/identity-provider.ts';
import { startSite, type TestSite } from '../../harness/sign-in/signed-in-site.ts';

interface Kept {
  access_token: string;
  refresh_token: string;
  expires_at: string;
}

const cli = useCli();
let site: TestSite;
let home: string;
beforeAll(async () => {
  site = await startSite();
  home = await mkdtemp(join(tmpdir(), 'gpuaas-cli-home-'));
});
afterAll(async () => {
  await site?.stop();
  await rm(home, { recursive: true, force: true });
});

const file = (): string => join(home, 'gpuaas', 'tokens.json');
const kept = async (): Promise<Kept> =>
  (JSON.parse(await readFile(file(), 'utf8')) as Record<string, Kept>)[site.url]!;

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [cli.main, ...args], {
    env: { PATH: process.env['PATH']!, XDG_CONFIG_HOME: home, GPUAAS_URL: site.url, ...env },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (output[name] += chunk.toString()));
  const done = once(child, 'close').then(([code]) => ({ code: code as number, ...output }));
  return { output, done };
}

const gpuaas = (args: string[], env?: Record<string, string>) => start(args, env).done;

async function login(): Promise<{ code: number; stdout: string; stderr: string }> {
  const { output, done } = start(['login', '--json']);
  await expect.poll(() => output.stderr, { timeout: 60_000 }).toMatch(/\n/);
  const prompt = JSON.parse(output.stderr.split('\n')[0]!) as { verification_uri: string; user_code: string };
  const browser = new CookieBrowser();
  const confirm = await browser.submit(await browser.go(prompt.verification_uri), {
    user_code: prompt.user_code,
  });
  const signIn = await browser.submit(confirm, {});
  await browser.submit(signIn, { email: visitor.email, password: visitor.password });
  return await done;
}

/** As if the access token had ended. */
async function expire(refreshToken?: string): Promise<void> {
  const all = JSON.parse(await readFile(file(), 'utf8')) as Record<string, Kept>;
  const mine = all[site.url]!;
  mine.expires_at = new Date().toISOString();
  mine.access_token = 'ended';
  if (refreshToken) mine.refresh_token = refreshToken;
  await writeFile(file(), JSON.stringify(all));
}

describe('gpuaas login', () => {
  it('shows a code, waits for the browser, and keeps tokens that only their owner can read', async () => {
    expect((await gpuaas(['me'])).code).toBe(4);
    const done = await login();
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ user: { email: visitor.email } });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    // The server is known by name from now on, so that no command has to name it again.
    expect((await gpuaas(['me'], { GPUAAS_URL: '' })).stdout).toContain(visitor.email);
    const contexts = await gpuaas(['context', 'list', '--json']);
    expect(JSON.parse(contexts.stdout)).toMatchObject({ items: [{ url: site.url, current: true }] });
    const me = await gpuaas(['whoami', '--json']);
    expect(me.code, me.stderr).toBe(0);
    expect(JSON.parse(me.stdout)).toMatchObject({ user: { email: visitor.email } });
    const key = await gpuaas(['me', '--json'], { GPUAAS_API_KEY: site.api.people['member']!.apiKey });
    expect(JSON.parse(key.stdout)).toMatchObject({ user: { email: 'member@acme.test' } });
  });

  it('renews the access token, once for commands that run at the same time', async () => {
    const before = await kept();
    await expire();
    const results = await Promise.all([1, 2, 3].map(() => gpuaas(['me', '--json'])));
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      results.map(() => ({ code: 0, stderr: '' })),
    );
    const after = await kept();
    expect(after.refresh_token).not.toBe(before.refresh_token);
    // A refresh token that was used already is a stolen one: the provider ends everything that came of it.
    await expire(before.refresh_token);
    expect((await gpuaas(['me'])).code).toBe(4);
    await writeFile(file(), JSON.stringify({ [site.url]: after }));
    await expire(after.refresh_token);
    const refused = await gpuaas(['me']);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('gpuaas login');
  });

  it('ends with gpuaas logout, here and at the provider', async () => {
    expect((await login()).code).toBe(0);
    const { refresh_token: refreshToken } = await kept();
    expect(JSON.parse((await gpuaas(['logout', '--json'])).stdout)).toEqual({
      signed_out: true,
      revoked: true,
    });
    expect((await gpuaas(['me'])).code).toBe(4);
    const answer = await fetch(`${site.idp.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: site.idp.cliClientId,
        refresh_token: refreshToken,
      }),
    });
    expect(answer.status).toBe(400);
    expect((await gpuaas(['logout'])).stdout).toContain('You were not signed in');
  });
});
