import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Step } from '../../host.ts';
import { openImageCache } from './image-cache.ts';

const IMAGE = randomBytes(3_000_000);
const DIGEST = digestOf(IMAGE);
const step: Step = { signal: new AbortController().signal, percent: () => undefined };

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
  return openImageCache({ folder, sources, maxBytes });
}

describe('images over HTTP', () => {
  it('are fetched once, however many ask at once, and found again', async () => {
    const images = cache();
    const files = await Promise.all(Array.from({ length: 5 }, () => images.get(DIGEST, step)));
    expect(new Set(files).size).toBe(1);
    expect(readFileSync(files[0]!).equals(IMAGE)).toBe(true);
    expect(await cache().get(DIGEST, step)).toBe(files[0]);
    expect(asked).toEqual([`/${DIGEST.replace(':', '-')}.qcow2`]);
  });

  it('go on where a broken connection ended', async () => {
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

  it('go on where a killed agent ended', async () => {
    writeFileSync(join(folder, `${DIGEST.replace(':', '-')}.part`), IMAGE.subarray(0, 2_000_000));
    await cache().get(DIGEST, step);
    expect(asked).toEqual([`/${DIGEST.replace(':', '-')}.qcow2 bytes=2000000-`]);
  });

  it('with another digest are refused and not kept', async () => {
    answer = serve(randomBytes(1000));
    await expect(cache().get(DIGEST, step)).rejects.toMatchObject({ code: 'image_digest_mismatch' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that changed in the cache are fetched anew', async () => {
    const file = await cache().get(DIGEST, step);
    writeFileSync(file, 'rot');
    expect(readFileSync(await cache().get(DIGEST, step)).equals(IMAGE)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('larger than the cache are refused before they fill the disk', async () => {
    await expect(cache(1_000_000).get(DIGEST, step)).rejects.toMatchObject({ code: 'image_too_large' });
  });

  it('come from the next source when one does not have them', async () => {
    answer = (request, response) =>
      request.url?.startsWith('/old/') ? response.writeHead(404).end() : serve(IMAGE)(request, response);
    const sources = [`http://${origin}/old/{digest}`, `http://${origin}/new/{digest}`];
    await cache(100_000_000, sources).get(DIGEST, step);
    expect(asked).toHaveLength(2);
  });

  it('that nobody has used for longest make room', async () => {
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

describe('images of a registry', () => {
  const manifest = JSON.stringify({ schemaVersion: 2, layers: [{ digest: DIGEST, size: IMAGE.length }] });
  const digest = digestOf(Buffer.from(manifest));

  it('are named by their manifest, behind a token if the registry wants one', async () => {
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

  it('whose manifest is another one are refused', async () => {
    answer = (_request, response) => response.end(`${manifest} `);
    const sources = [`oci+http://${origin}/gpuaas/slice`];
    await expect(cache(100_000_000, sources).get(digest, step)).rejects.toMatchObject({
      code: 'image_digest_mismatch',
    });
  });
});

function serve(bytes: Buffer) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
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
