import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTestAuthority } from '../../../testing/test-authority.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostOperation } from '../../host.ts';
import { openImageCache } from './image-cache.ts';

const IMAGE = randomBytes(3_000_000);
const DIGEST = digestOf(IMAGE);
const step: HostOperation = { signal: new AbortController().signal, percent: () => undefined };

let folder: string;
let server: Server;
let origin: string;
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-images-'));
  asked = [];
  answer = serve(IMAGE);
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.range ?? ''}`.trim());
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

function cache(maxBytes = 100_000_000, sources = [`http://${origin}/{digest}.qcow2`]) {
  const images = openImageCache({ folder, sources, maxBytes });
  return {
    ...images,
    get: (digest: string, by: HostOperation) => images.use(digest, by, async (file) => file),
  };
}

describe('images over HTTP', () => {
  it('are fetched once for concurrent callers, and found again', async () => {
    const images = cache();
    const files = await Promise.all(Array.from({ length: 5 }, () => images.get(DIGEST, step)));
    expect(new Set(files).size).toBe(1);
    expect(readFileSync(files[0]!).equals(IMAGE)).toBe(true);
    expect(await cache().get(DIGEST, step)).toBe(files[0]);
    expect(asked).toEqual([`/${DIGEST.replace(':', '-')}.qcow2`]);
  });

  it('resume after a broken connection', async () => {
    let broken = 0;
    answer = (request, response) => {
      if (broken > 0) return serve(IMAGE)(request, response);
      broken += 1;
      response.writeHead(200, { 'content-length': IMAGE.length });
      response.write(IMAGE.subarray(0, 1_000_000), () => response.destroy());
    };
    const file = await cache().get(DIGEST, step);
    expect(readFileSync(file).equals(IMAGE)).toBe(true);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatch(/bytes=[1-9]\d*-$/);
  });

  it('resume after a killed agent', async () => {
    writeFileSync(join(folder, `${DIGEST.replace(':', '-')}.part`), IMAGE.subarray(0, 2_000_000));
    await cache().get(DIGEST, step);
    expect(asked).toEqual([`/${DIGEST.replace(':', '-')}.qcow2 bytes=2000000-`]);
  });

  it('are refused and deleted with another digest', async () => {
    answer = serve(randomBytes(1000));
    await expect(cache().get(DIGEST, step)).rejects.toMatchObject({ code: 'image_digest_mismatch' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are fetched again if they changed in the cache', async () => {
    const file = await cache().get(DIGEST, step);
    writeFileSync(file, 'rot');
    expect(readFileSync(await cache().get(DIGEST, step)).equals(IMAGE)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('are refused if larger than the cache, before they fill the disk', async () => {
    await expect(cache(1_000_000).get(DIGEST, step)).rejects.toMatchObject({ code: 'image_too_large' });
  });

  it('come from the next source when one lacks them', async () => {
    answer = (request, response) =>
      request.url?.startsWith('/old/') ? response.writeHead(404).end() : serve(IMAGE)(request, response);
    const sources = [`http://${origin}/old/{digest}`, `http://${origin}/new/{digest}`];
    await cache(100_000_000, sources).get(DIGEST, step);
    expect(asked).toHaveLength(2);
  });

  it('are evicted by least recent use', async () => {
    const others = [randomBytes(3_000_000), randomBytes(3_000_000)];
    answer = (request, response) =>
      serve([IMAGE, ...others].find((one) => request.url?.includes(digestOf(one).slice(7))) ?? IMAGE)(
        request,
        response,
      );
    const images = cache(7_000_000);
    await images.get(digestOf(others[0]!), step);
    await images.get(DIGEST, step);
    await images.get(digestOf(others[0]!), step);
    await images.get(digestOf(others[1]!), step);
    const kept = readdirSync(folder).filter((name) => !name.endsWith('.json'));
    expect(kept.toSorted()).toEqual(others.map((one) => digestOf(one).replace(':', '-')).toSorted());
  });
});

describe('a download', () => {
  it('survives any number of cuts as long as it makes progress', async () => {
    answer = (request, response) => {
      const start = startOf(request);
      response.writeHead(start > 0 ? 206 : 200, {
        'content-length': IMAGE.length - start,
        ...(start > 0 ? { 'content-range': `bytes ${start}-${IMAGE.length - 1}/${IMAGE.length}` } : {}),
      });
      response.write(IMAGE.subarray(start, start + 250_000), () =>
        start + 250_000 < IMAGE.length ? response.destroy() : response.end(),
      );
    };
    expect(readFileSync(await cache().get(DIGEST, step)).equals(IMAGE)).toBe(true);
    expect(asked.length).toBeGreaterThan(6);
  });

  it('refuses a server that resumes at another offset', async () => {
    writeFileSync(join(folder, `${DIGEST.replace(':', '-')}.part`), IMAGE.subarray(0, 1_000_000));
    answer = (_request, response) => {
      const headers = { 'content-length': 100, 'content-range': `bytes 7-106/${IMAGE.length}` };
      response.writeHead(206, headers).end(IMAGE.subarray(7, 107));
    };
    await expect(cache().get(DIGEST, step)).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('bytes from 7, 1000000 were asked for'),
    });
  });

  it('ends when the last caller gives up, and resumes with the next call', async () => {
    const images = cache();
    const half = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<void>();
    answer = (request, response) => {
      if (startOf(request) > 0) return serve(IMAGE)(request, response);
      response.writeHead(200, { 'content-length': IMAGE.length });
      response.write(IMAGE.subarray(0, 1_500_000));
      response.on('close', () => cut.resolve());
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const seen = (percent: number): void => void (percent > 49 && half.resolve());
    const one = images.get(DIGEST, { signal: first.signal, percent: seen });
    const other = images.get(DIGEST, { signal: second.signal, percent: () => undefined });
    await half.promise;
    first.abort();
    await expect(one).rejects.toThrow(/abort/i);
    expect(asked).toHaveLength(1);
    second.abort();
    await expect(other).rejects.toThrow(/abort/i);
    await cut.promise;
    expect(readFileSync(await images.get(DIGEST, step)).equals(IMAGE)).toBe(true);
    expect(asked[1]).toMatch(/bytes=1500000-$/);
  });
});

describe('the limit of the cache', () => {
  const other = randomBytes(3_000_000);
  beforeEach(() => {
    answer = (request, response) =>
      serve(request.url?.includes(digestOf(other).slice(7)) ? other : IMAGE)(request, response);
  });

  it('holds during a download: other images are evicted before its bytes are written', async () => {
    const images = cache(4_000_000);
    await images.get(digestOf(other), step);
    let most = 0;
    const percent = (): void => void (most = Math.max(most, bytesIn(folder)));
    await images.get(DIGEST, { signal: step.signal, percent });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4_000_000);
  });

  it('evicts no image while a machine is created from it', async () => {
    const images = cache(4_000_000);
    await images.use(digestOf(other), step, async (file) => {
      await expect(images.get(DIGEST, step)).rejects.toMatchObject({ code: 'host_disk_full' });
      expect(readFileSync(file).equals(other)).toBe(true);
    });
    expect(readFileSync(await images.get(DIGEST, step)).equals(IMAGE)).toBe(true);
  });
});

describe('agents of one host', () => {
  const half = 1_500_000;
  let agents: ChildProcess[];
  let held: ServerResponse[];
  beforeEach(() => {
    agents = [];
    held = [];
    answer = (request, response) => {
      const start = startOf(request);
      response.writeHead(start > 0 ? 206 : 200, { 'content-length': IMAGE.length - start });
      if (start > 0) return response.end(IMAGE.subarray(start));
      response.write(IMAGE.subarray(0, half));
      held.push(response);
    };
  });
  afterEach(() => agents.forEach((agent) => agent.kill('SIGKILL')));

  async function agent(): Promise<{ child: ChildProcess; said: Promise<string> }> {
    const program = new URL('../../../testing/fetch-image.ts', import.meta.url);
    const source = `http://${origin}/{digest}`;
    const child = spawn(process.execPath, [fileURLToPath(program), folder, source, DIGEST], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    agents.push(child);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('asking');
    return { child, said: lines.next().then(({ value }) => String(value)) };
  }

  it('fetch an image once, and both have it', async () => {
    const both = [await agent(), await agent()];
    await expect.poll(() => held.length).toBe(1);
    held[0]!.end(IMAGE.subarray(half));
    const said = await Promise.all(both.map((one) => one.said));
    expect(new Set(said).size).toBe(1);
    expect(readFileSync(said[0]!).equals(IMAGE)).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('resume the download of an agent that was killed', async () => {
    const first = await agent();
    await expect.poll(() => bytesIn(folder)).toBe(half);
    const second = await agent();
    first.child.kill('SIGKILL');
    expect(readFileSync(await second.said).equals(IMAGE)).toBe(true);
    expect(asked.map((line) => line.split(' ')[1])).toEqual([undefined, `bytes=${half}-`]);
  });
});

describe('images over HTTPS', () => {
  it('come only from servers that the host trusts', async () => {
    const authority = await createTestAuthority();
    const { certPem: cert, keyPem: key } = authority.server;
    const secure = createSecureServer({ cert, key }, serve(IMAGE)).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const source = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/{digest}`;
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, authority.caPem);
    const program = fileURLToPath(new URL('../../../testing/fetch-image.ts', import.meta.url));
    const fetched = async (env: NodeJS.ProcessEnv): Promise<string> => {
      const child = spawn(process.execPath, [program, folder, source, DIGEST], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return (await text(child.stdout)).trim().split('\n').at(-1) ?? '';
    };
    try {
      expect(await fetched({})).toContain('image_unavailable');
      expect(readFileSync(await fetched({ NODE_EXTRA_CA_CERTS: ca })).equals(IMAGE)).toBe(true);
    } finally {
      secure.closeAllConnections();
      secure.close();
    }
  });
});

describe('images of a registry', () => {
  const manifest = JSON.stringify({ schemaVersion: 2, layers: [{ digest: DIGEST, size: IMAGE.length }] });
  const digest = digestOf(Buffer.from(manifest));

  it('are found by their manifest, with a token if the registry requires one', async () => {
    answer = (request, response) => {
      const { url = '', headers } = request;
      if (url.startsWith('/token')) return json(response, { token: 'let-me-in' });
      if (headers.authorization !== 'Bearer let-me-in') {
        const realm = `Bearer realm="http://${origin}/token",service="images",scope="repository:gpuaas/slice:pull"`;
        return response.writeHead(401, { 'www-authenticate': realm }).end();
      }
      if (url === `/v2/gpuaas/slice/manifests/${digest}`) return response.end(manifest);
      if (url === `/v2/gpuaas/slice/blobs/${DIGEST}`) return serve(IMAGE)(request, response);
      response.writeHead(404).end();
    };
    const sources = [`oci+http://${origin}/gpuaas/slice`];
    const file = await cache(100_000_000, sources).get(digest, step);
    expect(readFileSync(file).equals(IMAGE)).toBe(true);
    const calls = asked.length;
    await cache(100_000_000, sources).get(digest, step);
    expect(asked).toHaveLength(calls);
  });

  it('are refused with another manifest', async () => {
    answer = (_request, response) => response.end(`${manifest} `);
    const sources = [`oci+http://${origin}/gpuaas/slice`];
    await expect(cache(100_000_000, sources).get(digest, step)).rejects.toMatchObject({
      code: 'image_digest_mismatch',
    });
  });
});

function serve(bytes: Buffer) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const start = startOf(request);
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': bytes.length - start });
    response.end(bytes.subarray(start));
  };
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function startOf(request: IncomingMessage): number {
  return Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
}

function bytesIn(dir: string): number {
  const images = readdirSync(dir).filter((name) => /^sha256-[0-9a-f]{64}(\.part)?$/.test(name));
  return images.reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
