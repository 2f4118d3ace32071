import { keepBlob } from '@gpuaas/control-plane/platform/blobs/keep-blob';
import type { Blobs } from '@gpuaas/control-plane/platform/blobs/blobs';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  contentOf,
  digestOf,
  filesBelow,
  letGraceHavePassed,
  startBlobTest,
  type BlobTest,
} from '../../harness/blob-store.ts';
import { startStrictS3, type StrictS3 } from '../../harness/servers/strict-s3.ts';

let test: BlobTest;
let s3: StrictS3;
let blobs: Blobs;
const PREFIX = 'gpuaas/content/';

function openOnS3(changed: Partial<StrictS3> = {}): Blobs {
  const { url, bucket, region, accessKeyId, secretAccessKey } = { ...s3, ...changed };
  return test.open({
    settings: {
      folder: test.folder,
      s3: { url, bucket, region, accessKeyId, secretAccessKey, prefix: PREFIX },
    },
  });
}

beforeAll(async () => {
  [test, s3] = [await startBlobTest(), await startStrictS3()];
  blobs = openOnS3();
});
afterAll(async () => {
  await s3?.stop();
  await test?.stop();
});
afterEach(() => s3.answered.splice(0));

const put = (content: string, store = blobs) =>
  store.put(Buffer.from(content), { tenantId: test.tenantId, maxBytes: 1000 });

it('stores, reads and removes content in a bucket with signed requests, and keeps no copy', async () => {
  const { digest } = await put('in the bucket');
  expect([...s3.objects.keys()]).toEqual([`${PREFIX}sha256/${digest.slice(7)}`]);
  expect(await blobs.stat(digest)).toMatchObject({ backend: 's3', bytes: 13 });
  expect(String(await contentOf(await blobs.open(digest)))).toBe('in the bucket');
  expect(await filesBelow(test.folder)).toEqual([]);
  await put('in the bucket');
  expect(s3.answered).toEqual(['PUT 200', 'GET 200', 'HEAD 200']);
  const large = Buffer.alloc(2_000_000, 's3');
  const stored = await blobs.put(large, { tenantId: null, maxBytes: large.length });
  expect((await contentOf(await blobs.open(stored.digest))).equals(large)).toBe(true);
  await letGraceHavePassed(test.db);
  expect(await blobs.collect()).toEqual({ removed: 2 });
  expect(s3.objects.size).toBe(0);
});

it('reads content of the folder from before there was a bucket', async () => {
  const { digest } = await put('from the folder', test.open());
  expect(String(await contentOf(await blobs.open(digest)))).toBe('from the folder');
  await put('from the folder');
  expect(s3.objects.size).toBe(0);
});

it('tries again a few times when S3 cannot serve now, then fails with a typed error', async () => {
  s3.failNext(503, 500);
  const { digest } = await put('after two failures');
  expect(s3.answered).toEqual(['PUT 503', 'PUT 500', 'PUT 200']);
  s3.answered.splice(0);
  s3.failNext(503, 503, 503, 503);
  await expect(put('never')).rejects.toMatchObject({ code: 'unavailable' });
  expect(s3.answered).toEqual(['PUT 503', 'PUT 503', 'PUT 503', 'PUT 503']);
  expect(await blobs.stat(digestOf('never'))).toBeNull();
  s3.failNext(503);
  expect(String(await contentOf(await blobs.open(digest)))).toBe('after two failures');
});

it('fails with a typed error and without retries when S3 refuses', async () => {
  for (const wrong of [{ secretAccessKey: 'wrong' }, { accessKeyId: 'wrong' }, { region: 'us-east-1' }]) {
    await expect(put('refused', openOnS3(wrong))).rejects.toMatchObject({ code: 'refused' });
  }
  expect(s3.answered).toEqual(['PUT 403', 'PUT 403', 'PUT 403']);
  await expect(put('refused', openOnS3({ bucket: 'another' }))).rejects.toThrow(/404 NoSuchBucket/);
  await expect(put('gone', openOnS3({ url: new URL('http://127.0.0.1:1') }))).rejects.toMatchObject({
    code: 'unavailable',
  });
  // A failed write is not counted for the tenant, and goes with the next collection.
  const { digest } = await put('refused');
  expect(String(await contentOf(await blobs.open(digest)))).toBe('refused');
});

it('keeps the row of content that cannot be removed, and removes it the next time', async () => {
  const { digest } = await put('hard to remove');
  await letGraceHavePassed(test.db);
  s3.failNext(...Array.from({ length: 4 }, () => 503));
  await expect(blobs.collect()).rejects.toMatchObject({ code: 'unavailable' });
  await blobs.collect();
  expect(s3.objects.has(`${PREFIX}sha256/${digest.slice(7)}`)).toBe(false);
  expect(await test.db.selectFrom('blobs').select('digest').execute()).toEqual([]);
});

it('never ends clean with a changed, cut or missing object', async () => {
  for (const [content, damaged] of [
    ['wrong byte', Buffer.from('Wrong byte')],
    ['cut object', Buffer.from('cut')],
    ['missing object', null],
  ] as const) {
    const { digest } = await put(content);
    await test.db
      .transaction()
      .execute((tx) =>
        keepBlob(tx, { digest, tenantId: test.tenantId, subjectType: 'app_instance', subjectId: newId() }),
      );
    const key = `${PREFIX}sha256/${digest.slice(7)}`;
    if (damaged) s3.objects.set(key, damaged);
    else s3.objects.delete(key);
    const read = async () => await contentOf(await blobs.open(digest));
    await expect(read(), content).rejects.toMatchObject({ code: 'corrupt' });
    await put(content);
    expect(String(await read())).toBe(content);
  }
});

it('reads a part of content, in the bucket and in the folder', async () => {
  for (const store of [blobs, test.open()]) {
    const { digest } = await put(`0123456789 of ${store === blobs ? 'the bucket' : 'the folder'}`, store);
    const part = await contentOf(await blobs.openPart(digest, { first: 2, last: 5 }));
    expect(String(part)).toBe('2345');
  }
  expect(s3.answered).toEqual(['PUT 200', 'GET 206']);
});
