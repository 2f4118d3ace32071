import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectRegistry } from '@gpuaas/control-plane/domains/apps/artifacts/registry/collect-registry';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createApi } from '@gpuaas/control-plane/roles/api';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, testApiOptions, type TestApi } from '../../harness/api.ts';
import { digestOf, errorCode, imageOf, OciClient } from '../../harness/registry/oci-client.ts';

let api: TestApi;
let admin: OciClient;
let project: string;

beforeAll(async () => {
  api = await createTestApi();
  await api.server.listen({ host: '127.0.0.1', port: 0 });
  admin = new OciClient(originOf(api.server), api.people['admin']!.apiKey);
  project = api.people['admin']!.projectId!;
});
afterAll(() => api?.stop());

function originOf(server: TestApi['server']): string {
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

async function collect(): Promise<void> {
  const services = servicesAsRole(api.services, 'gpuaas_worker');
  await collectRegistry.run(services, { start: new Date(), end: new Date() } as never);
}

/** As if nobody had touched anything of the registry for a year. */
async function age(...tables: ('registry_blobs' | 'registry_uploads')[]): Promise<void> {
  for (const table of tables)
    await sql`update ${sql.table(table)} set touched_at = now() - interval '1 year'`.execute(api.services.db);
}

async function references(digest: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from blob_references r
    join blob_holders h on h.id = r.holder_id where h.digest = ${digest}`.execute(api.services.db);
  return rows[0]!.count;
}

describe('the collector', () => {
  it('removes blobs that no manifest names and uploads that were left, and nothing else', async () => {
    const repository = `${project}/collected`;
    const image = await admin.pushImage(repository, 'v1', 'named layer');
    await admin.pushBlob(repository, 'unnamed');
    const place = await admin.begin(repository);
    await admin.send('PATCH', place, 'left behind');
    await collect();
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('unnamed')}`)).status).toBe(200);
    expect((await admin.send('GET', place)).status).toBe(204);
    await age('registry_blobs', 'registry_uploads');
    await collect();
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('unnamed')}`)).status).toBe(404);
    expect(await references(digestOf('unnamed'))).toBe(0);
    expect((await admin.send('GET', place)).status).toBe(404);
    expect(await references(digestOf('left behind'))).toBe(0);
    expect((await admin.send('GET', `/v2/${repository}/manifests/${image}`)).status).toBe(200);
    expect((await admin.send('GET', `/v2/${repository}/blobs/${digestOf('named layer')}`)).status).toBe(200);
  });

  it('leaves a blob that a client has just found', async () => {
    const repository = `${project}/found`;
    await admin.pushBlob(repository, 'found');
    await age('registry_blobs');
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('found')}`)).status).toBe(200);
    await collect();
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('found')}`)).status).toBe(200);
  });

  it('loses nothing of pushes that run beside it', async () => {
    const repository = `${project}/beside`;
    let running = true;
    const collecting = (async () => {
      while (running) {
        await age('registry_blobs');
        await collect();
        await sleep(Math.random() * 300);
      }
    })();
    const pushed: string[] = [];
    // A year passes between the push of a blob and that of its manifest, so a client may have to begin again.
    const push = async (tag: string, layer: string): Promise<void> => {
      for (let attempt = 0; attempt < 100; attempt++) {
        await admin.pushBlob(repository, layer);
        await admin.pushBlob(repository, '{"architecture":"amd64","os":"linux"}');
        const put = await admin.putManifest(repository, tag, imageOf(layer));
        if (put.status === 201) return void pushed.push(put.headers.get('docker-content-digest')!);
        expect(await errorCode(put)).toBe('MANIFEST_BLOB_UNKNOWN');
      }
    };
    try {
      for (let round = 0; round < 6; round++) await push(`v${round}`, `layer ${round % 3}`);
    } finally {
      running = false;
      await collecting;
    }
    expect(pushed).toHaveLength(6);
    for (const digest of pushed) {
      const manifest = await admin.send('GET', `/v2/${repository}/manifests/${digest}`);
      expect(manifest.status).toBe(200);
      const { layers } = (await manifest.json()) as { layers: { digest: string }[] };
      for (const layer of layers) {
        const blob = await admin.send('GET', `/v2/${repository}/blobs/${layer.digest}`);
        expect(digestOf(await blob.text())).toBe(layer.digest);
      }
    }
  });

  it('empties a repository that was deleted, whose name is free immediately', async () => {
    const repository = `${project}/ended`;
    const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
    await admin.pushImage(repository, 'v1', 'ended layer');
    const url = `/api/v1/registry-repositories?project_id=${project}`;
    type Listed = { items: { id: string; name: string; tags: number; manifests: number }[] };
    const listed = (await api.server.inject({ method: 'GET', url, headers })).json<Listed>();
    const found = listed.items.find(({ name }) => name === 'ended')!;
    expect(found).toMatchObject({ tags: 1, manifests: 1 });
    const path = `/api/v1/registry-repositories/${found.id}`;
    const tags = await api.server.inject({ method: 'GET', url: `${path}/tags`, headers });
    expect(tags.json()).toMatchObject({ items: [{ name: 'v1', moved_by_name: 'Tenant Admin' }] });
    expect((await api.server.inject({ method: 'DELETE', url: path, headers })).statusCode).toBe(204);
    expect((await admin.send('GET', `/v2/${repository}/manifests/v1`)).status).toBe(404);
    expect((await api.server.inject({ method: 'GET', url: path, headers })).statusCode).toBe(404);
    await admin.pushBlob(repository, 'second life');
    await collect();
    expect(await references(digestOf('ended layer'))).toBe(0);
    const { rows } = await sql`select from registry_repositories where id = ${found.id}`.execute(
      api.services.db,
    );
    expect(rows).toHaveLength(0);
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('second life')}`)).status).toBe(200);
  });
});

describe('an upload that breaks off', () => {
  it('goes on where it was, in another process of the platform', async () => {
    const content = randomBytes(600_000);
    const place = await admin.begin(`${project}/resumed`);
    const first = await admin.send('PATCH', place, content.subarray(0, 200_000));
    expect(first.status).toBe(202);
    await breakOff(`${admin.origin}${place}`, content.subarray(200_000, 400_000));
    const progress = await admin.send('GET', place);
    expect(progress.headers.get('range')).toBe('0-199999');
    const second = await createApi(api.services, { ...testApiOptions(), readiness: new Readiness() });
    try {
      await second.server.listen({ host: '127.0.0.1', port: 0 });
      const other = new OciClient(originOf(second.server), api.people['admin']!.apiKey);
      const rest = { 'content-range': '200000-599999' };
      expect((await other.send('PATCH', place, content.subarray(200_000), rest)).status).toBe(202);
      expect((await other.send('PUT', `${place}?digest=${digestOf(content)}`)).status).toBe(201);
    } finally {
      await second.stop();
    }
    const blob = await admin.send('GET', `/v2/${project}/resumed/blobs/${digestOf(content)}`);
    expect(digestOf(Buffer.from(await blob.arrayBuffer()))).toBe(digestOf(content));
  });
});

/** Sends a part of a body and ends the connection. */
async function breakOff(url: string, part: Buffer): Promise<void> {
  const sent = request(url, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${api.people['admin']!.apiKey}`,
      'content-length': String(part.length * 2),
    },
  });
  const gone = new Promise<void>((resolve) => {
    sent.once('error', () => resolve());
    sent.once('close', () => resolve());
  });
  sent.write(part, () => setTimeout(() => sent.destroy(), 100));
  await gone;
}
