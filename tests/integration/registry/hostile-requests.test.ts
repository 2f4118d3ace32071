import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { digestOf, imageOf, OciClient, OCI_MANIFEST } from '../../harness/registry/oci-client.ts';

let api: TestApi;
let admin: OciClient;
let project: string;

beforeAll(async () => {
  api = await createTestApi();
  await api.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  admin = new OciClient(`http://127.0.0.1:${port}`, api.people['admin']!.apiKey);
  project = api.people['admin']!.projectId!;
  await admin.pushImage(`${project}/known`, 'v1', 'layer');
});
afterAll(() => api?.stop());

/** Sends a path as it is; `fetch` would tidy it up. */
async function sendRaw(method: string, path: string, body: string, headers: Record<string, string>) {
  return await new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const { port } = api.server.server.address() as AddressInfo;
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          type: String(answer.headers['content-type']),
          body: text,
        }),
      );
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('names', () => {
  it('of no repository, tag or digest are refused, with an error of the specification', async () => {
    const known = `${project}/known`;
    for (const [path, statuses] of [
      [`/v2/${project}/UPPER/tags/list`, [400]],
      [`/v2/${project}/../known/tags/list`, [400]],
      [`/v2/${project}/a%2f..%2fb/tags/list`, [400]],
      [`/v2/${project}/a%00b/tags/list`, [400]],
      [`/v2/${project}/${'a'.repeat(300)}/tags/list`, [400]],
      [`/v2/${project}//tags/list`, [400]],
      ['/v2/system/tags/list', [404]],
      [`/v2/${project.toUpperCase()}/known/tags/list`, [404]],
      ['/v2/somebody/known/tags/list', [404]],
      [`/v2/${known}/manifests/-bad`, [400]],
      [`/v2/${known}/manifests/${'a'.repeat(129)}`, [400]],
      [`/v2/${known}/manifests/sha512:${'0'.repeat(128)}`, [400]],
      [`/v2/${known}/blobs/sha256:${'0'.repeat(63)}`, [400]],
      [`/v2/${known}/blobs/uploads/not-an-upload`, [404]],
      [`/v2/${known}/referrers/latest`, [400]],
      ['/v2/_catalog', [404]],
      ['/v2/nothing', [404]],
    ] as const) {
      const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
      const answer = await sendRaw('GET', path, '', headers);
      expect(statuses, `${path} answers ${answer.status} ${answer.body}`).toContain(answer.status);
      expect(JSON.parse(answer.body), path).toMatchObject({
        errors: [{ code: expect.any(String) as string }],
      });
    }
  });
});

describe('whatever is sent', () => {
  const segment = fc.oneof(
    fc.constantFrom('v2', 'blobs', 'uploads', 'manifests', 'tags', 'list', 'referrers', 'system', 'known'),
    fc.constantFrom('v1', '..', '', '%', '%2e', '%ff', '?digest=', '?mount=x&from=y', '?n=-1', '?last=%00'),
    fc.constant(digestOf('layer')),
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );

  it('is never a failure of the registry', { timeout: 300_000 }, async () => {
    const authorization = `Bearer ${api.people['admin']!.apiKey}`;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
        fc.array(segment, { maxLength: 6 }),
        fc.boolean(),
        fc.oneof(fc.string({ maxLength: 200 }), fc.json(), fc.constant(JSON.stringify(imageOf('layer')))),
        fc.constantFrom('', OCI_MANIFEST, 'application/json', 'text/plain; charset=utf-8'),
        fc.constantFrom('', '0-3', 'bytes=0-', '9-1', '18446744073709551616-0'),
        async (method, parts, known, body, type, range) => {
          const path = `/v2/${known ? `${project}/known/` : ''}${parts.join('/')}`;
          const sent = method === 'GET' || method === 'HEAD' ? '' : body;
          const answer = await sendRaw(method, path, sent, {
            authorization,
            'content-length': String(Buffer.byteLength(sent)),
            ...(type ? { 'content-type': type } : {}),
            ...(range ? { range, 'content-range': range } : {}),
          });
          expect(answer.status, `${method} ${path}: ${answer.body}`).toBeLessThan(500);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('as a manifest is never a failure of the registry', { timeout: 300_000 }, async () => {
    const descriptor = fc.oneof(
      fc.constant((imageOf('layer') as { config: object }).config),
      fc.record(
        {
          mediaType: fc.anything(),
          digest: fc.oneof(fc.constant(digestOf('layer')), fc.anything()),
          size: fc.oneof(fc.constant(5), fc.anything()),
        },
        { requiredKeys: [] },
      ),
      fc.anything(),
    );
    const manifest = fc.record(
      {
        schemaVersion: fc.oneof(fc.constant(2), fc.anything()),
        mediaType: fc.oneof(fc.constant(OCI_MANIFEST), fc.anything()),
        config: descriptor,
        layers: fc.oneof(fc.array(descriptor, { maxLength: 3 }), fc.anything()),
        subject: descriptor,
        artifactType: fc.anything(),
        annotations: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.anything()),
      },
      { requiredKeys: ['schemaVersion', 'config', 'layers'] },
    );
    await fc.assert(
      fc.asyncProperty(manifest, async (document) => {
        let body: string;
        try {
          body = JSON.stringify(document);
        } catch {
          return;
        }
        const put = await admin.putManifest(`${project}/known`, 'fuzzed', body);
        expect(put.status, `${body} ${await put.text()}`).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
  });
});

describe('many clients', () => {
  it('push the same image at the same time, and each of them succeeds', async () => {
    const repository = `${project}/crowd`;
    const digests = await Promise.all(
      Array.from({ length: 8 }, (_, index) => admin.pushImage(repository, `v${index % 2}`, 'shared layer')),
    );
    expect(new Set(digests).size).toBe(1);
    const tags = await admin.send('GET', `/v2/${repository}/tags/list`);
    expect(await tags.json()).toMatchObject({ tags: ['v0', 'v1'] });
  });
});
