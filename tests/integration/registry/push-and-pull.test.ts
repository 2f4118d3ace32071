import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import {
  descriptorOf,
  digestOf,
  errorCode,
  expectStatus,
  imageOf,
  OCI_INDEX,
  OciClient,
} from '../../harness/registry/oci-client.ts';

let api: TestApi;
let origin: string;
let admin: OciClient;
let member: OciClient;
let stranger: OciClient;
let operator: OciClient;
let project: string;

beforeAll(async () => {
  api = await createTestApi();
  await api.server.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`;
  const client = (person: string): OciClient => new OciClient(origin, api.people[person]!.apiKey);
  [admin, member, stranger, operator] = ['admin', 'member', 'other', 'operator'].map(client) as [
    OciClient,
    OciClient,
    OciClient,
    OciClient,
  ];
  project = api.people['admin']!.projectId!;
});
afterAll(() => api?.stop());

describe('an image', () => {
  it('is pulled by tag and by digest as it was pushed', async () => {
    const repository = `${project}/team/app`;
    const layer = randomBytes(300_000);
    const digest = await member.pushImage(repository, 'v1', layer);
    for (const reference of ['v1', digest]) {
      const got = await member.send('GET', `/v2/${repository}/manifests/${reference}`);
      expect(got.status).toBe(200);
      expect(got.headers.get('docker-content-digest')).toBe(digest);
      expect(got.headers.get('content-type')).toBe('application/vnd.oci.image.manifest.v1+json');
      expect(digestOf(await got.text())).toBe(digest);
    }
    const blob = await member.send('GET', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect(Buffer.from(await blob.arrayBuffer()).equals(layer)).toBe(true);
    const head = await member.send('HEAD', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe('300000');
  });

  it('keeps its digest when its tag moves, and the audit log has both digests', async () => {
    const repository = `${project}/moving`;
    const first = await admin.pushImage(repository, 'latest', 'one');
    const second = await admin.pushImage(repository, 'latest', 'two');
    const latest = await admin.send('HEAD', `/v2/${repository}/manifests/latest`);
    expect(latest.headers.get('docker-content-digest')).toBe(second);
    expect((await admin.send('GET', `/v2/${repository}/manifests/${first}`)).status).toBe(200);
    const rows = await api.services.db
      .selectFrom('audit_logs')
      .select(['before', 'after', 'detail', 'result'])
      .where('action', '=', 'registry.push')
      .where('target_type', '=', 'registry_repository')
      .orderBy('id', 'desc')
      .limit(1)
      .execute();
    expect(rows[0]).toMatchObject({
      before: { digest: first },
      after: { digest: second },
      detail: { path: repository, tag: 'latest' },
      result: 'succeeded',
    });
  });

  it('is refused if a blob is missing, has another size, or the digest is wrong', async () => {
    const repository = `${project}/refused`;
    const missing = await admin.putManifest(repository, 'v1', imageOf('not pushed'));
    expect([missing.status, await errorCode(missing)]).toEqual([404, 'MANIFEST_BLOB_UNKNOWN']);
    await admin.pushImage(repository, 'v1', 'layer');
    const other = { ...descriptorOf('layer', 'application/vnd.oci.image.layer.v1.tar'), size: 6 };
    const wrongSize = await admin.putManifest(repository, 'v2', imageOf('layer', { layers: [other] }));
    expect([wrongSize.status, await errorCode(wrongSize)]).toEqual([400, 'MANIFEST_INVALID']);
    const wrong = await admin.putManifest(repository, digestOf('x'), imageOf('layer'));
    expect([wrong.status, await errorCode(wrong)]).toEqual([400, 'DIGEST_INVALID']);
    for (const text of ['', '{', '[]', 'null', '{"schemaVersion":1}', '\u0000'])
      expect((await admin.putManifest(repository, 'v2', text)).status, text).toBe(400);
    const huge = JSON.stringify(imageOf('layer', { padding: 'x'.repeat(5_000_000) }));
    expect((await admin.putManifest(repository, 'v2', huge)).status).toBe(413);
  });

  it('is deleted by digest with its tags, unless an index names it; by tag it stays', async () => {
    const repository = `${project}/deleted`;
    const digest = await admin.pushImage(repository, 'v1', 'layer');
    await admin.pushImage(repository, 'v2', 'layer');
    const manifest = await admin.send('GET', `/v2/${repository}/manifests/v1`);
    const child = descriptorOf(await manifest.text(), 'application/vnd.oci.image.manifest.v1+json');
    const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [child] };
    const indexed = await admin.putManifest(repository, 'all', index, OCI_INDEX);
    expect(indexed.status).toBe(201);
    const indexDigest = indexed.headers.get('docker-content-digest')!;
    expect((await member.send('DELETE', `/v2/${repository}/manifests/v1`)).status).toBe(403);
    expect((await admin.send('DELETE', `/v2/${repository}/manifests/v1`)).status).toBe(202);
    expect((await admin.send('GET', `/v2/${repository}/manifests/v1`)).status).toBe(404);
    expect((await admin.send('DELETE', `/v2/${repository}/manifests/${digest}`)).status).toBe(405);
    expect((await admin.send('DELETE', `/v2/${repository}/blobs/${digestOf('layer')}`)).status).toBe(405);
    expect((await admin.send('DELETE', `/v2/${repository}/manifests/${indexDigest}`)).status).toBe(202);
    expect((await admin.send('DELETE', `/v2/${repository}/manifests/${digest}`)).status).toBe(202);
    expect((await admin.send('GET', `/v2/${repository}/manifests/v2`)).status).toBe(404);
    expect((await admin.send('DELETE', `/v2/${repository}/blobs/${digestOf('layer')}`)).status).toBe(202);
    expect((await admin.send('HEAD', `/v2/${repository}/blobs/${digestOf('layer')}`)).status).toBe(404);
  });
});

describe('an upload', () => {
  it('goes on in chunks after any of them, and refuses one out of order', async () => {
    const repository = `${project}/chunked`;
    const content = randomBytes(250_000);
    let place = await admin.begin(repository);
    for (const [from, to] of [
      [0, 100_000],
      [100_000, 200_000],
    ] as const) {
      const chunk = content.subarray(from, to);
      const sent = await admin.send('PATCH', place, chunk, { 'content-range': `${from}-${to - 1}` });
      expect(sent.status).toBe(202);
      expect(sent.headers.get('range')).toBe(`0-${to - 1}`);
      place = sent.headers.get('location')!;
    }
    const early = await admin.send('PATCH', place, content.subarray(240_000), {
      'content-range': '240000-249999',
    });
    expect([early.status, await errorCode(early)]).toEqual([416, 'RANGE_INVALID']);
    const progress = await admin.send('GET', place);
    expect([progress.status, progress.headers.get('range')]).toEqual([204, '0-199999']);
    const done = await admin.send('PUT', `${place}?digest=${digestOf(content)}`, content.subarray(200_000));
    expect(done.status).toBe(201);
    const blob = await admin.send('GET', `/v2/${repository}/blobs/${digestOf(content)}`);
    expect(Buffer.from(await blob.arrayBuffer()).equals(content)).toBe(true);
    expect((await admin.send('GET', place)).status).toBe(404);
  });

  it('is one request, too, and refuses content with another digest', async () => {
    const path = `/v2/${project}/whole/blobs/uploads/`;
    const sent = await admin.send('POST', `${path}?digest=${digestOf('whole')}`, 'whole');
    expect(sent.status).toBe(201);
    expect(sent.headers.get('location')).toBe(`/v2/${project}/whole/blobs/${digestOf('whole')}`);
    const wrong = await admin.send('POST', `${path}?digest=${digestOf('other')}`, 'whole');
    expect([wrong.status, await errorCode(wrong)]).toEqual([400, 'DIGEST_INVALID']);
    const place = await admin.begin(`${project}/whole`);
    const late = await admin.send('PUT', `${place}?digest=${digestOf('other')}`, 'whole');
    expect([late.status, await errorCode(late)]).toEqual([400, 'DIGEST_INVALID']);
    const unsupported = await admin.send('PUT', `${place}?digest=sha512:00`, 'whole');
    expect([unsupported.status, await errorCode(unsupported)]).toEqual([400, 'DIGEST_INVALID']);
    expect((await admin.send('DELETE', place)).status).toBe(204);
    expect((await admin.send('DELETE', place)).status).toBe(404);
  });

  it('takes only one of two chunks for the same place', async () => {
    const place = await admin.begin(`${project}/raced`);
    const sent = await Promise.all(['aaaa', 'bbbb'].map((text) => admin.send('PATCH', place, text)));
    const statuses = sent.map(({ status }) => status).toSorted((a, b) => a - b);
    const progress = await admin.send('GET', place);
    // Either they were in turn, and both count, or one was refused.
    expect([
      ['202,202', '0-7'],
      ['202,416', '0-3'],
    ]).toContainEqual([statuses.join(','), progress.headers.get('range')]);
  });

  it('is a mount of a blob that another repository of the tenant has', async () => {
    await admin.pushBlob(`${project}/source`, 'mounted');
    const digest = digestOf('mounted');
    const path = `/v2/${project}/mounts/blobs/uploads/?mount=${digest}`;
    expect((await admin.send('POST', `${path}&from=${project}/source`)).status).toBe(201);
    expect((await admin.send('HEAD', `/v2/${project}/mounts/blobs/${digest}`)).status).toBe(200);
    expect((await admin.send('POST', `${path}&from=${project}/nothing`)).status).toBe(202);
    const foreign = `/v2/${api.people['other']!.projectId!}/theft/blobs/uploads/?mount=${digest}`;
    expect((await stranger.send('POST', `${foreign}&from=${project}/source`)).status).toBe(202);
  });
});

describe('a pull', () => {
  it('takes a part of a blob', async () => {
    const repository = `${project}/ranges`;
    await admin.pushBlob(repository, '0123456789');
    const path = `/v2/${repository}/blobs/${digestOf('0123456789')}`;
    for (const [range, part, where] of [
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=5-99', '56789', 'bytes 5-9/10'],
    ] as const) {
      const got = await admin.send('GET', path, undefined, { range });
      expect([got.status, await got.text(), got.headers.get('content-range')]).toEqual([206, part, where]);
    }
    const beyond = await admin.send('GET', path, undefined, { range: 'bytes=10-' });
    expect([beyond.status, await errorCode(beyond)]).toEqual([416, 'RANGE_INVALID']);
    const several = await admin.send('GET', path, undefined, { range: 'bytes=0-1,3-4' });
    expect([several.status, await several.text()]).toEqual([200, '0123456789']);
  });

  it('lists tags in pages', async () => {
    const repository = `${project}/tagged`;
    for (const tag of ['b', 'A', 'a', 'C']) await admin.pushImage(repository, tag, 'layer');
    const path = `/v2/${repository}/tags/list`;
    const all = await admin.send('GET', path);
    expect(await all.json()).toEqual({ name: repository, tags: ['A', 'C', 'a', 'b'] });
    const two = await admin.send('GET', `${path}?n=2`);
    expect(await two.json()).toMatchObject({ tags: ['A', 'C'] });
    const next = /<(.+)>; rel="next"/.exec(two.headers.get('link') ?? '')?.[1] ?? '';
    const rest = await admin.send('GET', next);
    expect(await rest.json()).toMatchObject({ tags: ['a', 'b'] });
    expect(rest.headers.get('link')).toBeNull();
    expect(await (await admin.send('GET', `${path}?n=0`)).json()).toMatchObject({ tags: [] });
  });

  it('lists what describes a manifest, before and after the manifest itself is there', async () => {
    const repository = `${project}/described`;
    await admin.pushImage(repository, 'v1', 'layer');
    const image = await (await admin.send('GET', `/v2/${repository}/manifests/v1`)).text();
    const subject = descriptorOf(image, 'application/vnd.oci.image.manifest.v1+json');
    const path = `/v2/${repository}/referrers/${subject.digest}`;
    expect(await (await admin.send('GET', path)).json()).toMatchObject({ manifests: [] });
    const annotations = { 'org.example.kind': 'sbom' };
    for (const artifactType of ['application/vnd.example.sbom', 'application/vnd.example.signature']) {
      const put = await admin.putManifest(
        repository,
        `of-${artifactType.slice(-4)}`,
        imageOf('layer', { artifactType, subject, annotations }),
      );
      expect(put.status).toBe(201);
      expect(put.headers.get('oci-subject')).toBe(subject.digest);
    }
    const all = await admin.send('GET', path);
    expect(all.headers.get('content-type')).toBe(OCI_INDEX);
    expect(((await all.json()) as { manifests: unknown[] }).manifests).toHaveLength(2);
    const some = await admin.send('GET', `${path}?artifactType=application/vnd.example.sbom`);
    expect(some.headers.get('oci-filters-applied')).toBe('artifactType');
    expect(await some.json()).toMatchObject({
      mediaType: OCI_INDEX,
      manifests: [{ artifactType: 'application/vnd.example.sbom', annotations }],
    });
  });
});

describe('rights', () => {
  it('are those of an API key or a service account; without one there is a challenge', async () => {
    const nobody = new OciClient(origin, null);
    const asked = await nobody.send('GET', '/v2/');
    expect([asked.status, await errorCode(asked)]).toEqual([401, 'UNAUTHORIZED']);
    expect(asked.headers.get('www-authenticate')).toMatch(/^Bearer realm="http:.+\/v2\/token",service="/);
    expect((await new OciClient(origin, 'wrong').send('GET', '/v2/')).status).toBe(401);
    const welcome = await member.send('GET', '/v2/');
    expect(welcome.status).toBe(200);
    expect(welcome.headers.get('docker-distribution-api-version')).toBe('registry/2.0');
    const answer = await member.send('GET', '/v2/token?service=any&scope=repository:any:pull');
    const { token } = (await answer.json()) as { token: string };
    const bearer = await nobody.send('GET', '/v2/', undefined, { authorization: `Bearer ${token}` });
    expect(bearer.status).toBe(200);
    const post = async <Body>(url: string, payload: object): Promise<Body> => {
      const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
      const made = await api.server.inject({ method: 'POST', url, headers, payload });
      expect(made.statusCode, made.body).toBe(201);
      return made.json<Body>();
    };
    const account = await post<{ token: string; service_account: { id: string } }>(
      '/api/v1/service-accounts',
      { project_id: project, name: 'pusher' },
    );
    const robot = new OciClient(origin, account.token);
    expect((await robot.send('POST', `/v2/${project}/by-robot/blobs/uploads/`)).status).toBe(403);
    await post('/api/v1/permission-bindings', {
      organization_id: api.people['admin']!.organizationId,
      project_id: project,
      permission_group: 'regular_user',
      holder: { type: 'service_account', id: account.service_account.id },
    });
    expect(await robot.pushImage(`${project}/by-robot`, 'v1', 'layer')).toMatch(/^sha256:/);
  });

  it('end at the project: strangers see nothing, and cannot write', async () => {
    const repository = `${project}/private`;
    await admin.pushImage(repository, 'v1', 'layer');
    for (const path of [
      `/v2/${repository}/manifests/v1`,
      `/v2/${repository}/blobs/${digestOf('layer')}`,
      `/v2/${repository}/tags/list`,
      `/v2/${repository}/referrers/${digestOf('layer')}`,
    ]) {
      const got = await stranger.send('GET', path);
      expect([got.status, await errorCode(got)], path).toEqual([404, 'NAME_UNKNOWN']);
    }
    const push = await stranger.send('POST', `/v2/${repository}/blobs/uploads/`);
    expect([push.status, await errorCode(push)]).toEqual([404, 'NAME_UNKNOWN']);
    expect((await stranger.putManifest(repository, 'v1', imageOf('layer'))).status).toBe(404);
  });

  it('let every tenant read the platform’s repositories, and only operators write them', async () => {
    await operator.pushImage('system/base', 'v1', 'system layer');
    expect((await stranger.send('GET', '/v2/system/base/manifests/v1')).status).toBe(200);
    const blob = await member.send('GET', `/v2/system/base/blobs/${digestOf('system layer')}`);
    expect(await blob.text()).toBe('system layer');
    for (const tenant of [admin, member, stranger]) {
      const push = await tenant.send('POST', '/v2/system/base/blobs/uploads/');
      expect([push.status, await errorCode(push)]).toEqual([403, 'DENIED']);
      expect((await tenant.putManifest('system/base', 'v1', imageOf('system layer'))).status).toBe(403);
      expect((await tenant.send('DELETE', '/v2/system/base/manifests/v1')).status).toBe(403);
    }
    expect((await new OciClient(origin, null).send('GET', '/v2/system/base/manifests/v1')).status).toBe(401);
  });
});

describe('limits', () => {
  it('refuse content above the quota of the tenant and above the size of a blob', async () => {
    const organizationId = api.people['other']!.organizationId!;
    const set = async (key: string, value: number | null): Promise<void> => {
      await api.services.db
        .deleteFrom('policy_values')
        .where('key', '=', key)
        .where('organization_id', '=', organizationId)
        .execute();
      if (value !== null)
        await api.services.db
          .insertInto('policy_values')
          .values({ key, organization_id: organizationId, value: String(value) })
          .execute();
      await api.services.policies.refresh();
    };
    const repository = `${api.people['other']!.projectId!}/large`;
    const path = `/v2/${repository}/blobs/uploads/`;
    const content = randomBytes(2_000_000);
    await set('blobs.max_bytes_per_tenant', 1_000_000);
    const full = await stranger.send('POST', `${path}?digest=${digestOf(content)}`, content);
    expect([full.status, await errorCode(full)]).toEqual([403, 'DENIED']);
    await set('blobs.max_bytes_per_tenant', null);
    await set('registry.max_blob_bytes', 1_048_576);
    const large = await stranger.send('POST', `${path}?digest=${digestOf(content)}`, content);
    expect([large.status, await errorCode(large)]).toEqual([413, 'SIZE_INVALID']);
    await set('registry.max_uploads_per_project', 2);
    await stranger.begin(repository);
    expect((await stranger.send('POST', path)).status).toBe(403);
    await set('registry.max_tags_per_repository', 1);
    await set('registry.max_uploads_per_project', null);
    await stranger.pushImage(repository, 'v1', 'layer');
    expect((await stranger.putManifest(repository, 'v2', imageOf('layer'))).status).toBe(403);
    expect((await stranger.putManifest(repository, 'v1', imageOf('layer'))).status).toBe(201);
    await set('registry.max_repositories_per_project', 1);
    const another = await stranger.send('POST', `/v2/${api.people['other']!.projectId!}/two/blobs/uploads/`);
    expect([another.status, await errorCode(another)]).toEqual([403, 'DENIED']);
    await expectStatus(await stranger.send('GET', `/v2/${repository}/tags/list`), 200);
  });
});
