import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { unwrap } from '@gpuaas/sdk/problem';
import { TunnelHub } from '@gpuaas/control-plane/domains/access/tunnel/tunnel-hub';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { mintStreamToken, openStream } from '../../harness/access/guest-stream.ts';
import type { Allocation } from '../../harness/allocations/allocations.ts';
import { AppClient } from '../../harness/apps/app-client.ts';
import { publish, runApp, shellManifest } from '../../harness/apps/apps.ts';
import { launchMachine, startWebApp, type WebApp } from '../../harness/apps/web-app.ts';

const PORT = 8000;
let platform: TestPlatform;
let app: WebApp;
let allocation: Allocation;
let client: AppClient;
let key: { authorization: string };

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const corsOrigins = ['https://pages.example'];
  allocation = await launchMachine(platform);
  app = await startWebApp(platform, allocation, { slug: 'hello', port: PORT, corsOrigins });
  client = new AppClient(platform.appsPort, app.label);
  key = { authorization: `Bearer ${platform.keys.member}` };
});
afterAll(() => platform?.stop());

interface Echo {
  method: string;
  url: string;
  bytes: number;
  headers: Record<string, string>;
  rawTrailers: string[];
}

async function echo(path: string, call: Parameters<AppClient['call']>[1] = {}): Promise<Echo> {
  const answer = await client.call(path, { ...call, headers: { ...key, ...call.headers } });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Echo;
}

async function opened(socket: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
}

describe('a request with an API key', () => {
  it('reaches the app with its target unchanged, and without the key', async () => {
    const seen = await echo('/a%2fb/../c//d?x=%7B', { headers: { 'x-other': 'kept' } });
    expect(seen.url).toBe('/a%2fb/../c//d?x=%7B');
    expect(seen.headers).toMatchObject({ 'x-other': 'kept', host: client.host, 'x-forwarded-proto': 'http' });
    expect(JSON.stringify(seen)).not.toContain(platform.keys.member);
    expect(seen.headers).not.toHaveProperty('authorization');
  });

  it('keeps the app’s own Authorization if ours is in X-Gpuaas-Key', async () => {
    const answer = await client.call('/', {
      headers: { authorization: 'token of-the-app', 'x-gpuaas-key': platform.keys.member },
    });
    const seen = JSON.parse(answer.text) as Echo;
    expect(seen.headers['authorization']).toBe('token of-the-app');
    expect(seen.headers).not.toHaveProperty('x-gpuaas-key');
  });

  it('cannot forge what the gateway says, nor smuggle headers of the connection', async () => {
    const seen = await echo('/', {
      headers: {
        'x-forwarded-for': '6.6.6.6',
        'x-gpuaas-user': 'root',
        connection: 'close, x-secret',
        'x-secret': '1',
        'proxy-authorization': 'Basic x',
        te: 'trailers',
        cookie: 'a=1; __Host-gpuaas_app=x; gpuaas_sign_in=y; b=2',
      },
    });
    expect(seen.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', cookie: 'a=1; b=2' });
    expect(seen.headers['x-gpuaas-user']).not.toBe('root');
    for (const name of ['x-secret', 'proxy-authorization', 'te'])
      expect(seen.headers).not.toHaveProperty(name);
  });

  it('carries bodies of any kind', async () => {
    expect((await echo('/', { method: 'POST', body: 'x'.repeat(300_000) })).bytes).toBe(300_000);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await echo('/', { method: 'PUT', headers: chunked, body: 'y'.repeat(5000) })).bytes).toBe(5000);
    expect((await echo('/', { method: 'DELETE' })).method).toBe('DELETE');
  });

  it('gets trailers, early hints and a 304 as the app sends them', async () => {
    expect((await client.call('/trailers', { headers: key })).trailers).toEqual({ 'x-sum': '42' });
    expect(await client.call('/early', { headers: key })).toMatchObject({ interim: [103], text: 'late' });
    expect(await client.call('/304', { headers: key })).toMatchObject({ status: 304, text: '' });
  });

  it('gets events as they are sent, and its abort reaches the app', async () => {
    const before = Number((await client.call('/aborted', { headers: key })).text);
    const sent = get({
      host: '127.0.0.1',
      port: platform.appsPort,
      path: '/sse',
      headers: { host: client.host, ...key },
    });
    const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^data: 1\n/);
    answer.on('error', () => undefined);
    sent.on('error', () => undefined);
    sent.destroy();
    await expect
      .poll(async () => Number((await client.call('/aborted', { headers: key })).text), { timeout: 20_000 })
      .toBe(before + 1);
  });

  it('does not let the app set our cookies, those of its siblings, or headers of our TLS', async () => {
    const { headers } = await client.call('/cookies', { headers: key });
    expect(headers['set-cookie']).toEqual(['ok=1; Path=/']);
    expect(headers['origin-agent-cluster']).toBe('?1');
    for (const name of ['clear-site-data', 'strict-transport-security'])
      expect(headers).not.toHaveProperty(name);
  });
});

describe('an app that misbehaves', () => {
  it('may close idle connections whenever it likes', async () => {
    expect((await client.call('/', { headers: key })).status).toBe(200);
    // Node's own server does so after five seconds.
    await pause(7000);
    expect((await client.call('/', { headers: key })).status).toBe(200);
  });

  it('is answered for with 502, or breaks off where its answer breaks off', async () => {
    for (const path of ['/garbage', '/huge-header', '/two-lengths', '/unasked-upgrade', '/hang-up'])
      expect([path, (await client.call(path, { headers: key })).status]).toEqual([path, 502]);
    for (const path of ['/cut', '/cut-chunks'])
      await expect(client.call(path, { headers: key })).rejects.toThrow();
    expect((await client.call('/', { headers: key })).status).toBe(200);
  });

  it('cannot answer a request that it was not asked', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect((await client.call('/poison', { headers: key })).text).toBe('fine');
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect((await client.call('/', { headers: key })).text).not.toContain('POISON');
    }
  });
});

describe('a WebSocket', () => {
  it('is carried both ways with a key, and a refusal of the app stays a refusal', async () => {
    const socket = client.webSocket('/ws', key);
    await opened(socket);
    socket.send('hello');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString()).toBe('hello');
    socket.close();
    await once(socket, 'close');
    await expect(opened(client.webSocket('/no-websocket', key))).rejects.toThrow('403');
    await expect(opened(client.webSocket('/ws'))).rejects.toThrow('401');
  });
});

describe('a stranger', () => {
  it('is refused, or sent to the console if it is a browser', async () => {
    expect((await client.call('/')).status).toBe(401);
    expect((await client.call('/', { headers: { authorization: 'Bearer gpk_wrong' } })).status).toBe(401);
    expect(
      (await client.call('/', { headers: { authorization: `Bearer ${platform.keys.other}` } })).status,
    ).toBe(403);
    const page = await client.call('/lab?x=1', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(303);
    const location = new URL(page.headers.location!);
    expect(`${location.origin}${location.pathname}`).toBe(`${platform.baseUrl}/auth/apps/${app.label}`);
    expect(location.searchParams.get('to')).toBe('/lab?x=1');
    expect(page.headers['set-cookie']?.[0]).toMatch(
      /^__Host-gpuaas_try=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=300$/,
    );
  });

  it('gets the answer to a preflight from the list of the app alone', async () => {
    const ask = (origin: string) =>
      client.call('/v1', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect(await ask('https://pages.example')).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': 'https://pages.example' },
    });
    expect((await ask('https://evil.example')).status).toBe(401);
    const answer = await client.call('/', { headers: { ...key, origin: 'https://pages.example' } });
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': 'https://pages.example' });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });
});

describe('an app that is starting', () => {
  it('shows browsers a page that reloads, and asks programs to come again', async () => {
    // It never answers, so it stays in this state until the test is over.
    const runtime = {
      ports: [{ name: 'web', port: PORT + 1, protocol: 'http' as const }],
      readiness: { port: 'web', path: '/', timeout_seconds: 600 },
    };
    await publish(platform.operator, 'late', shellManifest('sleep 600', { kind: 'service', runtime }));
    const { id } = await runApp(platform.member, {
      project_id: platform.projectId,
      app_slug: 'late',
      allocation_id: allocation.id,
    });
    const at = { params: { path: { app_instance_id: id } } };
    const { label } = await unwrap(
      platform.member.GET('/api/v1/app-instances/{app_instance_id}/address', at),
    );
    const late = new AppClient(platform.appsPort, label);
    const program = await late.call('/', { headers: key });
    expect(program).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(JSON.parse(program.text)).toMatchObject({ code: 'app_not_running' });
    const { url } = await unwrap(
      platform.member.POST('/api/v1/app-instances/{app_instance_id}/share-links', {
        ...at,
        body: { expires_in_seconds: 600 },
      }),
    );
    const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' };
    const { pathname, search } = new URL(url!);
    const entered = await late.call(`${pathname}${search}`, { headers: navigation });
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
    const page = await late.call('/', {
      headers: { ...navigation, 'sec-fetch-dest': 'document', cookie },
    });
    expect(page).toMatchObject({ status: 503, headers: { refresh: '2', 'retry-after': '2' } });
    expect(page.text).toContain('is starting');
  });
});

describe('the bytes of apps', () => {
  it('use a separate connection: a terminal goes on when it is lost, and apps come back', async () => {
    const sessions = vi.spyOn(TunnelHub.prototype, 'session');
    const lastOf = (kind: string) =>
      sessions.mock.results[sessions.mock.calls.findLastIndex(([, asked = 'terminals']) => asked === kind)]
        ?.value;
    const socket = client.webSocket('/ws', key);
    await opened(socket);
    const { token, path } = await mintStreamToken(platform.member, allocation.id, PORT);
    const { bytes } = await openStream(platform.baseUrl, token, { path });
    const ask = async (): Promise<string> => {
      bytes.write('GET /served HTTP/1.1\r\nHost: guest\r\n\r\n');
      const [answer] = (await once(bytes, 'data')) as [Buffer];
      return answer.toString();
    };
    expect(await ask()).toContain('200 OK');
    const [apps, terminals] = [lastOf('apps'), lastOf('terminals')];
    expect(apps).toBeDefined();
    expect(terminals).toBeDefined();
    expect(apps).not.toBe(terminals);
    const cut = once(socket, 'close');
    apps!.destroy();
    await cut;
    expect(await ask()).toContain('200 OK');
    bytes.destroy();
    sessions.mockRestore();
    await expect
      .poll(async () => (await client.call('/', { headers: key })).status, { timeout: 60_000 })
      .toBe(200);
  });
});

describe('the address for programs', () => {
  it('takes keys only and answers nothing that a browser would obey', async () => {
    const url = `${platform.baseUrl}/serve/${app.label}`;
    const answer = await fetch(`${url}/x?y=1`, { headers: key });
    expect(((await answer.json()) as Echo).url).toBe('/x?y=1');
    expect(answer.headers.get('content-security-policy')).toBe('sandbox');
    const cookies = await fetch(`${url}/cookies`, { headers: key });
    expect(cookies.headers.getSetCookie()).toEqual([]);
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { ...key, 'sec-fetch-dest': 'document' } })).status).toBe(401);
    expect((await fetch(url, { headers: { ...key, origin: platform.baseUrl } })).status).toBe(401);
    expect((await fetch(`${platform.baseUrl}/serve/no-such-app/`, { headers: key })).status).toBe(404);
  });
});

describe('a malformed request', () => {
  const start = 'GET /x HTTP/1.1\r\n';
  it('is refused before it reaches an app', async () => {
    const served = async () => Number((await client.call('/served', { headers: key })).text);
    const before = await served();
    const head = `Host: ${client.host}\r\nAuthorization: ${key.authorization}\r\n`;
    const inner = `GET /smuggled HTTP/1.1\r\n${head}\r\n`;
    const cases: Record<string, string> = {
      'length and chunks': `POST /x HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      'two lengths': `POST /x HTTP/1.1\r\n${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
      'odd encoding': `POST /x HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      'chunked not last': `POST /x HTTP/1.1\r\n${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      'bare line feeds': `GET /x HTTP/1.1\nHost: ${client.host}\n\n`,
      'folded header': `${start}${head}X-A: b\r\n c\r\n\r\n`,
      'two hosts': `${start}${head}Host: other.localhost\r\n\r\n`,
      'absolute target': `GET http://other.localhost/x HTTP/1.1\r\n${head}\r\n`,
      'no host': `${start}Authorization: ${key.authorization}\r\n\r\n`,
      'foreign host': `${start}Host: 127.0.0.1\r\nAuthorization: ${key.authorization}\r\n\r\n`,
      'two labels': `${start}Host: a.${client.host}\r\nAuthorization: ${key.authorization}\r\n\r\n`,
      'long header': `${start}${head}X-Long: ${'a'.repeat(40_000)}\r\n\r\n`,
      'HTTP/1.0': `GET /x HTTP/1.0\r\n${head}\r\n`,
      tunnel: `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${head}\r\n`,
    };
    for (const [name, bytes] of Object.entries(cases)) {
      const text = await client.raw(bytes);
      expect([name, text.slice(0, 12)]).toEqual([name, expect.stringMatching(/^(HTTP\/1.1 4(00|21|31))?$/)]);
      expect(text.match(/^HTTP\/1\.1 /gm)?.length ?? 0).toBeLessThan(2);
    }
    // Only the two questions for the number itself.
    expect(await served()).toBe(before + 1);
  });
});
