import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as send, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { createDevIdp } from '@gpuaas/control-plane/platform/auth/dev-idp/dev-idp';
import { CLIENT_STREAM_PATH } from '@gpuaas/control-plane/domains/access/routes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Contract } from '../contract/operations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { freePort } from '../harness/processes/free-port.ts';

const PUBLIC = 'gpu.example.test';
const contract = new Contract(document);
const folders: string[] = [];
/** As people run it at first, and behind a proxy with TLS. */
let local: Site;
let secure: Site;

interface Site {
  api: TestApi;
  port: number;
  host: string;
}

async function startSite(publicUrl: (port: number) => string): Promise<Site> {
  const port = await freePort();
  const url = publicUrl(port);
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-public-port-'));
  folders.push(folder);
  await mkdir(join(folder, 'console', 'assets'), { recursive: true });
  await writeFile(join(folder, 'console', 'index.html'), '<!doctype html><title>Console</title>');
  await writeFile(join(folder, 'console', 'assets', 'app.js'), 'export {};');
  const devIdp = await createDevIdp({
    issuer: `${url}/idp`,
    people: [],
    keyFile: join(folder, 'keys.json'),
    clients: { consoleRedirectUri: `${url}/auth/callback`, consoleClientSecret: 'x'.repeat(32) },
  });
  const api = await createTestApi({
    publicUrl: url,
    devIdp,
    consoleDir: join(folder, 'console'),
    trustedProxies: ['127.0.0.2'],
  });
  await api.server.listen({ host: '127.0.0.1', port });
  return { api, port, host: new URL(url).host };
}

beforeAll(async () => {
  local = await startSite((port) => `http://127.0.0.1:${port}`);
  secure = await startSite(() => `https://${PUBLIC}`);
});
afterAll(async () => {
  await local?.api.stop();
  await secure?.api.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Asked {
  path: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  from?: string;
}

function ask({ port, host }: Site, { path, method = 'GET', headers = {}, from }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = send({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { host, ...headers },
      agent: false,
      ...(from ? { localAddress: from } : {}),
    });
    asked.on('error', reject);
    asked.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('the upgrade was taken'));
    });
    asked.on('response', (answer) => {
      const chunks: Buffer[] = [];
      const done = (): void =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks).toString(),
        });
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', done);
      // A stream has no end; its head is all that is asked for.
      if (answer.headers['content-type'] === 'text/event-stream') {
        done();
        asked.destroy();
      }
    });
    asked.end();
  });
}

/** What was answered to bytes as they are, up to the end of the connection. */
async function tell({ port }: Site, ...lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end([...lines, 'Connection: close', '', ''].join('\r\n'));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

const STATIC = [
  '/',
  '/allocations',
  '/assets/app.js',
  '/assets/none.js',
  '/docs',
  '/nothing/here',
  '/api/v1/none',
];
const PROVIDER = [
  '/idp/.well-known/openid-configuration',
  '/idp/auth',
  '/idp/none',
  '/idpx',
  '/idp/interaction/x',
];

function wanted(headers: IncomingHttpHeaders): Record<string, unknown> {
  return {
    'cross-origin-opener-policy': headers['cross-origin-opener-policy'],
    'cross-origin-resource-policy': headers['cross-origin-resource-policy'],
    'x-content-type-options': headers['x-content-type-options'],
    'referrer-policy': headers['referrer-policy'],
    framed: /frame-ancestors ([^;]+)/.exec(String(headers['content-security-policy']))?.[1],
  };
}

const ALL_SET = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  framed: "'none'",
};

describe('every answer of the public port', () => {
  it('tells browsers to keep other origins out, whatever was asked and however it ended', async () => {
    const bearer = { authorization: `Bearer ${local.api.people['operator']!.apiKey}` };
    const asked: Asked[] = [
      ...contract.operations.flatMap(({ method, path }) => {
        const url = path.replaceAll(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000');
        return [
          { method, path: url },
          { method, path: url, headers: bearer },
          { method: 'TRACE', path: url },
        ];
      }),
      ...[...STATIC, ...PROVIDER].flatMap((path) =>
        ['GET', 'HEAD', 'POST'].map((method) => ({ method, path })),
      ),
      { path: '/', headers: { host: 'localhost' } },
      { path: '/', headers: { host: 'evil.example' } },
      { path: '/api/v1/me', headers: { authorization: 'Bearer wrong' } },
    ];
    const look = async (): Promise<void> => {
      for (let each = asked.pop(); each; each = asked.pop()) {
        const { status, headers } = await ask(local, each);
        expect(wanted(headers), `${each.method ?? 'GET'} ${each.path}: ${status}`).toEqual(ALL_SET);
        expect(headers['strict-transport-security']).toBeUndefined();
      }
    };
    await Promise.all(Array.from({ length: 20 }, look));
  });

  it('does so for what is no HTTP, and for a terminal that is refused', async () => {
    const broken = await tell(local, 'HELO there');
    const refused = await tell(
      local,
      'GET /api/v1/terminal HTTP/1.1',
      `Host: ${local.host}`,
      'Upgrade: websocket',
      'Origin: http://evil.example',
      'Connection: Upgrade',
    );
    expect(refused).toContain('403 Forbidden');
    for (const answer of [broken, refused])
      for (const line of ['cross-origin-resource-policy: same-origin', 'x-content-type-options: nosniff'])
        expect(answer).toContain(line);
  });

  it('asks for TLS for a year where the public URL has it', async () => {
    for (const path of ['/', '/api/v1/me', '/idp/none', '/healthz']) {
      const { headers } = await ask(secure, { path });
      expect(headers['strict-transport-security'], path).toBe('max-age=31536000');
    }
  });

  it('does both in answers that no handler writes', async () => {
    const opening = (...more: string[]) => ['GET /api/v1/terminal HTTP/1.1', `Host: ${PUBLIC}`, ...more];
    const upgrade = ['Upgrade: websocket', 'Connection: Upgrade'];
    const answers: Record<string, string[]> = {
      '400': ['HELO there'],
      '417': ['GET /api/v1/me HTTP/1.1', `Host: ${PUBLIC}`, 'Expect: foo'],
      '400 ': opening(...upgrade, 'Sec-WebSocket-Key: short', 'Sec-WebSocket-Version: 13'),
      '403': opening(...upgrade, 'Origin: http://evil.example'),
      '421': ['GET /api/v1/terminal HTTP/1.1', 'Host: evil.example', ...upgrade],
      '401': [`GET ${CLIENT_STREAM_PATH} HTTP/1.1`, `Host: ${PUBLIC}`, ...upgrade],
      '101': opening(...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'),
    };
    for (const [status, lines] of Object.entries(answers)) {
      const answer = (await tell(secure, ...lines)).toLowerCase();
      expect(answer.split('\r\n')[0], lines[0]).toContain(` ${status.trim()} `);
      for (const line of [
        'strict-transport-security: max-age=31536000',
        'cross-origin-opener-policy: same-origin',
        'cross-origin-resource-policy: same-origin',
        'x-content-type-options: nosniff',
      ])
        expect(answer, `${status} ${lines[0]}`).toContain(line);
    }
  });

  it('lets the console speak to its own origin alone', async () => {
    const policy = async (site: Site) =>
      /connect-src ([^;]+)/.exec(
        String((await ask(site, { path: '/' })).headers['content-security-policy']),
      )?.[1];
    expect(await policy(local)).toBe(`'self' ws://${local.host}`);
    expect(await policy(secure)).toBe(`'self' wss://${PUBLIC}`);
  });
});

describe('an upgrade that is not for us', () => {
  it.each(['h2c', 'websocket', 'TLS/1.3'])(
    'to %s is served as if it had not been asked for',
    async (protocol) => {
      const headers = {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: protocol,
        'http2-settings': 'AAMAAABk',
      };
      expect((await ask(local, { path: '/healthz', headers })).status).toBe(200);
      expect((await ask(local, { path: '/api/v1/me', headers })).status).toBe(401);
      expect((await ask(local, { path: '/', headers })).body).toContain('Console');
    },
  );
});

describe('the host name of an upgrade', () => {
  const opening = (path: string, ...more: string[]) =>
    tell(
      local,
      `GET ${path} HTTP/1.1`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      ...more,
    );

  it.each(['/api/v1/terminal', CLIENT_STREAM_PATH])('is ours: %s', async (path) => {
    for (const host of ['evil.example', 'localhost', 'x.localhost', `x.${local.host}`]) {
      const answer = await opening(path, `Host: ${host}`);
      expect(answer, host).toContain('421 Misdirected');
      expect(answer).toContain('misdirected_request');
    }
    expect(await opening(path, `Host: ${local.host}`, 'Host: evil.example')).toContain('400 Bad Request');
    expect(await opening(path, `Host: ${local.host}`)).not.toContain('421');
  });

  it('does not matter to a program with a token, as with requests', async () => {
    const known = await opening('/api/v1/terminal', 'Host: localhost', 'Authorization: Bearer x');
    expect(known).toContain('101 Switching Protocols');
    const guessed = await opening(CLIENT_STREAM_PATH, 'Host: localhost', 'Authorization: Bearer x');
    expect(guessed).toContain('401 Unauthorized');
  });
});

describe('the host name of a request', () => {
  const page = '/allocations?state=active';
  const bearerOf = (site: Site) => ({ authorization: `Bearer ${site.api.people['member']!.apiKey}` });

  it('that is not ours gets neither pages nor API nor provider', async () => {
    for (const site of [local, secure])
      for (const host of ['evil.example', 'x.localhost', `x.${site.host}`, 'localhost.', '[::2]', 'a@b'])
        for (const path of ['/', page, '/api/v1/me', '/auth/login', '/idp/auth', '/docs', '/openapi.json']) {
          const { status, body, headers } = await ask(site, { path, headers: { host } });
          expect({ host, path, status }).toEqual({ host, path, status: 421 });
          expect(body).not.toContain('Console');
          expect(headers['set-cookie']).toBeUndefined();
        }
  });

  it('that is a name of this machine is sent to the public URL, when it only reads', async () => {
    for (const site of [local, secure])
      for (const host of ['localhost', `localhost:${site.port}`, '[::1]:99', 'LocalHost']) {
        const read = await ask(site, { path: page, headers: { host } });
        const origin = site === local ? `http://${site.host}` : `https://${PUBLIC}`;
        expect(read).toMatchObject({ status: 302, headers: { location: `${origin}${page}` } });
        const change = await ask(site, {
          path: '/api/v1/sessions/revoke',
          method: 'POST',
          headers: { host },
        });
        expect(change.status).toBe(421);
        expect(JSON.parse(change.body)).toMatchObject({ code: 'misdirected_request' });
      }
    const elsewhere = await ask(local, { path: '//evil.example/x', headers: { host: 'localhost' } });
    expect(elsewhere.headers.location).toBe(`http://${local.host}//evil.example/x`);
  });

  it('does not matter to probes, nor to a program with a key; cookies are not taken there', async () => {
    for (const host of ['localhost', 'evil.example', '10.0.0.1:8080']) {
      for (const path of ['/healthz', '/metrics'])
        expect((await ask(secure, { path, headers: { host } })).status).toBe(200);
      const known = await ask(secure, { path: '/api/v1/me', headers: { host, ...bearerOf(secure) } });
      expect(known.status).toBe(200);
      const guessed = { host, cookie: '__Host-gpuaas_session=x', authorization: 'Bearer x' };
      expect((await ask(secure, { path: '/api/v1/me', headers: guessed })).status).toBe(401);
    }
  });

  it('is believed from a trusted proxy alone', async () => {
    const headers = { host: 'internal', 'x-forwarded-host': PUBLIC };
    expect((await ask(secure, { path: '/', headers, from: '127.0.0.2' })).status).toBe(200);
    expect((await ask(secure, { path: '/', headers })).status).toBe(421);
  });

  it('is given once', async () => {
    const twice = await tell(local, 'GET / HTTP/1.1', `Host: ${local.host}`, 'Host: evil.example');
    expect(twice).toContain('400 Bad Request');
    expect(await tell(local, 'GET / HTTP/1.1', 'Host:')).toContain('421 Misdirected');
    expect(await tell(local, 'GET / HTTP/1.1')).toContain('400 Bad Request');
  });

  it('in the target decides nothing but whether we answer', async () => {
    const target = (host: string, path: string, header = local.host) =>
      tell(local, `GET http://${host}${path} HTTP/1.1`, `Host: ${header}`);
    expect(await target(local.host, '/healthz')).toContain('200 OK');
    for (const path of ['/auth/login', '/healthz', '/api/v1/me'])
      expect(await target('evil.example', path)).toContain('421 Misdirected');
    for (const header of [local.host, 'localhost', 'evil.example'])
      expect(await target('evil.example', '/auth/login?x=1', header)).not.toMatch(/location: http:\/\/evil/i);
    expect(await tell(local, 'GET ftp://x/auth/login HTTP/1.1', `Host: ${local.host}`)).not.toContain(
      ' 302 ',
    );
  });
});
