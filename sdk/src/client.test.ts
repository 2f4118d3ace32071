import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { refreshingToken } from './access-token.ts';
import { createGpuaasClient, type GpuaasClient } from './client.ts';
import { subscribeEvents } from './events.ts';
import { refreshGrant } from './refresh-grant.ts';
import { paginate } from './paginate.ts';
import { unwrap } from './problem.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

/** A network that fails as instructed; tests/contract uses the real server. */
async function faulty(answer: (request: IncomingMessage, response: ServerResponse, attempt: number) => void) {
  const seen: { key: string | undefined; body: string }[] = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ key: request.headers['x-idempotency-key'] as string | undefined, body });
      answer(request, response, seen.length);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client: GpuaasClient = createGpuaasClient({ baseUrl, apiKey: 'k', retry: { maximumWaitMs: 50 } });
  return { client, seen, baseUrl };
}

const json = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
const patch = { params: { path: { sku: 'a' } }, body: { enabled: true } };

describe('retries', () => {
  it('send a mutation again with the same key and body after 503, 429 and a lost connection', async () => {
    const { client, seen } = await faulty((request, response, attempt) => {
      if (attempt === 1) json(response, 503, {});
      else if (attempt === 2) json(response, 429, {}, { 'retry-after': '1' });
      else if (attempt === 3) request.socket.destroy();
      else json(response, 200, { sku: 'a', enabled: true });
    });
    const sku = await unwrap(client.PATCH('/api/v1/admin/skus/{sku}', patch));
    expect(sku.enabled).toBe(true);
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    expect(seen.every(({ body }) => body === '{"enabled":true}')).toBe(true);
  });

  it('wait for the first request with the same key, as long as the server asks', async () => {
    const { seen, baseUrl } = await faulty((_request, response, attempt) => {
      if (attempt > 2) return json(response, 200, { sku: 'a', enabled: true });
      const problem = { code: 'idempotency_in_progress', status: 409 };
      return json(response, 409, problem, { 'retry-after': attempt === 1 ? '1' : '0' });
    });
    const client = createGpuaasClient({ baseUrl, apiKey: 'k' });
    const started = performance.now();
    const sku = await unwrap(client.PATCH('/api/v1/admin/skus/{sku}', patch));
    expect(sku.enabled).toBe(true);
    // Our own first backoff would be at most 400 ms.
    expect(performance.now() - started).toBeGreaterThan(900);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
  });

  it('are not made for refusals', async () => {
    const { client, seen } = await faulty((_request, response) =>
      json(response, 409, { code: 'sku_unavailable', status: 409 }),
    );
    await expect(unwrap(client.PATCH('/api/v1/admin/skus/{sku}', patch))).rejects.toMatchObject({
      code: 'sku_unavailable',
    });
    expect(seen).toHaveLength(1);
  });

  it('return the last response when the failure persists', async () => {
    const { client, seen } = await faulty((_request, response) => json(response, 502, {}));
    await expect(unwrap(client.GET('/api/v1/me'))).rejects.toMatchObject({ code: 'unexpected_response' });
    expect(seen).toHaveLength(5);
  });

  it('leave readiness alone: its 503 is the result', async () => {
    const { client, seen } = await faulty((_request, response) =>
      json(response, 503, { ready: false, parts: [] }),
    );
    const { response } = await client.GET('/readyz');
    expect(response.status).toBe(503);
    expect(seen).toHaveLength(1);
  });
});

const token = (name: string, ms = 3_600_000) => ({ token: name, expiresAt: new Date(Date.now() + ms) });

describe('access tokens', () => {
  it('are renewed after a refusal, once for all requests, and the request is repeated unchanged', async () => {
    const bearers: (string | undefined)[] = [];
    const { baseUrl, seen } = await faulty((request, response) => {
      bearers.push(request.headers.authorization);
      if (request.headers.authorization === 'Bearer good') json(response, 200, { sku: 'a', enabled: true });
      else json(response, 401, { code: 'unauthenticated', status: 401 });
    });
    let renewals = 0;
    const renew = async () => {
      renewals += 1;
      return token('good');
    };
    const client = createGpuaasClient({
      baseUrl,
      accessToken: refreshingToken({ renew, initial: token('revoked') }),
    });
    const [one, two] = await Promise.all([
      unwrap(client.PATCH('/api/v1/admin/skus/{sku}', patch)),
      unwrap(client.PATCH('/api/v1/admin/skus/{sku}', patch)),
    ]);
    expect([one.enabled, two.enabled]).toEqual([true, true]);
    expect(renewals).toBe(1);
    expect(bearers.filter((bearer) => bearer === 'Bearer good')).toHaveLength(2);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(2);
    expect(seen.every(({ body }) => body === '{"enabled":true}')).toBe(true);
  });

  it('are renewed before they expire, and a lasting refusal is returned', async () => {
    const made: string[] = [];
    const source = refreshingToken({
      initial: token('ending', 1_000),
      renew: async () => {
        made.push('next');
        return made.length > 1 ? null : token('next');
      },
    });
    expect(await source()).toBe('next');
    expect(await source()).toBe('next');
    const { baseUrl, seen } = await faulty((_request, response) =>
      json(response, 401, { code: 'unauthenticated', status: 401 }),
    );
    const client = createGpuaasClient({ baseUrl, accessToken: source });
    await expect(unwrap(client.GET('/api/v1/me'))).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(seen).toHaveLength(1);
  });

  it('come from a refresh token, whose successor is passed on', async () => {
    const kept: string[] = [];
    const { baseUrl, seen } = await faulty((request, response, attempt) => {
      if (request.url?.startsWith('/.well-known/'))
        json(response, 200, { token_endpoint: `http://${request.headers.host}/token` });
      else if (attempt < 4)
        json(response, 200, { access_token: `a${attempt}`, refresh_token: `r${attempt}`, expires_in: 600 });
      else json(response, 400, { error: 'invalid_grant' });
    });
    const renew = refreshGrant({
      issuer: baseUrl,
      clientId: 'c',
      refreshToken: 'r1',
      onRefreshToken: (next) => void kept.push(next),
    });
    expect((await renew())?.token).toBe('a2');
    expect((await renew())?.token).toBe('a3');
    expect(await renew()).toBeNull();
    expect(kept).toEqual(['r2', 'r3']);
    expect(seen.slice(1).map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toEqual([
      'r1',
      'r2',
      'r3',
    ]);
  });
});

describe('paginate', () => {
  it('walks every page', async () => {
    const pages: Record<string, { items: number[]; next_page: string | null }> = {
      first: { items: [1, 2], next_page: 'b' },
      b: { items: [], next_page: 'c' },
      c: { items: [3], next_page: null },
    };
    const all: number[] = [];
    for await (const item of paginate(async ({ page }) => pages[page ?? 'first']!)) all.push(item);
    expect(all).toEqual([1, 2, 3]);
  });
});

describe('subscribeEvents', () => {
  it('waits and reconnects after 429 and 503, and gives up after 401', async () => {
    const { baseUrl, seen } = await faulty((_request, response, attempt) => {
      if (attempt === 1) json(response, 429, {}, { 'retry-after': '0' });
      else if (attempt === 2) json(response, 503, {}, { 'retry-after': '0' });
      else if (attempt === 3) response.writeHead(200).end('id: 1-1\ndata: {"event_id":"e"}\n\n');
      else json(response, 401, {});
    });
    const events: unknown[] = [];
    const read = async (): Promise<void> => {
      const stream = subscribeEvents({ baseUrl, signal: AbortSignal.timeout(20_000) });
      for await (const event of stream) events.push(event);
    };
    await expect(read()).rejects.toMatchObject({ status: 401 });
    expect(events).toEqual([{ event_id: 'e' }]);
    expect(seen).toHaveLength(4);
  });

  it('closes the connection when the consumer stops reading', async () => {
    let closed = false;
    const { baseUrl } = await faulty((_request, response) => {
      response.on('close', () => (closed = true));
      response.writeHead(200).write('id: 1-1\ndata: {"event_id":"e"}\n\n');
    });
    for await (const event of subscribeEvents({ baseUrl, signal: AbortSignal.timeout(60_000) })) {
      expect(event).toEqual({ event_id: 'e' });
      break;
    }
    await expect.poll(() => closed).toBe(true);
  });

  it('continues with another token when its own has expired', async () => {
    const { baseUrl } = await faulty((request, response) => {
      if (request.headers.authorization !== 'Bearer good') json(response, 401, {});
      else response.writeHead(200).end('id: 1-1\ndata: {"event_id":"e"}\n\n');
    });
    const left = new AbortController();
    const stream = subscribeEvents({
      baseUrl,
      signal: left.signal,
      accessToken: refreshingToken({ initial: token('ended'), renew: async () => token('good') }),
    });
    expect((await stream.next()).value).toEqual({ event_id: 'e' });
    left.abort();
  });
});
