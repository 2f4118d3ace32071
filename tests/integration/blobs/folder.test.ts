import { execFile } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keepBlob, dropBlobs } from '@gpuaas/control-plane/platform/blobs/keep-blob';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  contentOf,
  digestOf,
  filesBelow,
  letGraceHavePassed,
  pathOf,
  startBlobTest,
  withoutGrace,
  type BlobTest,
} from '../../harness/blob-store.ts';

let test: BlobTest;
beforeAll(async () => {
  test = await startBlobTest();
});
afterAll(() => test?.stop());

const MiB = 1024 * 1024;

async function* chunksOf(...parts: string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

async function openIncidents(digest: string): Promise<number> {
  const rows = await test.db
    .selectFrom('incidents')
    .select('id')
    .where('type', '=', 'blob_corrupt')
    .where('target_id', '=', digest)
    .where('resolved_at', 'is', null)
    .execute();
  return rows.length;
}

async function usedBy(tenantId: string): Promise<number> {
  const { rows } = await sql<{
    bytes: string;
  }>`select bytes from blob_usage where organization_id = ${tenantId}`.execute(test.db);
  return Number(rows[0]?.bytes ?? 0);
}

const keep = (digest: string, tenantId: string | null, subjectId: string): Promise<void> =>
  test.db
    .transaction()
    .execute((tx) => keepBlob(tx, { digest, tenantId, subjectType: 'app_instance', subjectId }));
const drop = (subjectId: string): Promise<void> =>
  test.db.transaction().execute((tx) => dropBlobs(tx, { subjectType: 'app_instance', subjectId }));

describe('stored content', () => {
  it('comes back as it was sent, by its digest, from a stream or from bytes', async () => {
    const blobs = test.open();
    const { tenantId } = test;
    const put = await blobs.put(chunksOf('hello ', 'world'), { tenantId, maxBytes: 100 });
    expect(put).toEqual({ digest: digestOf('hello world'), bytes: 11 });
    expect(String(await contentOf(await blobs.open(put.digest)))).toBe('hello world');
    expect(await blobs.stat(put.digest)).toMatchObject({ bytes: 11, backend: 'folder' });
    const empty = await blobs.put(new Uint8Array(), { tenantId, maxBytes: 0 });
    expect(await contentOf(await blobs.open(empty.digest))).toHaveLength(0);
    const large = Buffer.alloc(3 * MiB, 'x');
    const stored = await blobs.put(large, { tenantId, maxBytes: 3 * MiB, expectedDigest: digestOf(large) });
    expect((await contentOf(await blobs.open(stored.digest))).equals(large)).toBe(true);
    expect(await filesBelow(join(test.folder, 'spool'))).toEqual([]);
  });

  it('is refused with another digest than announced, or with more bytes than allowed, and leaves nothing', async () => {
    const blobs = test.open();
    const { tenantId } = test;
    const before = await filesBelow(test.folder);
    const expectedDigest = digestOf('something else');
    await expect(
      blobs.put(Buffer.from('refused'), { tenantId, maxBytes: 100, expectedDigest }),
    ).rejects.toMatchObject({ code: 'digest_mismatch' });
    await expect(blobs.put(chunksOf('123', '456'), { tenantId, maxBytes: 5 })).rejects.toMatchObject({
      code: 'too_large',
    });
    await expect(
      blobs.put(
        (async function* () {
          yield Buffer.from('cut');
          throw new Error('the sender went away');
        })(),
        { tenantId, maxBytes: 5 },
      ),
    ).rejects.toThrow('the sender went away');
    expect(await filesBelow(test.folder)).toEqual(before);
    await expect(blobs.open(digestOf('refused'))).rejects.toMatchObject({ code: 'missing' });
    await expect(blobs.open('../../etc/passwd')).rejects.toMatchObject({ code: 'missing' });
  });

  const damages: [string, (path: string) => Promise<void>][] = [
    ['one changed byte', async (path) => writeFile(path, 'Damaged content')],
    ['a cut file', (path) => truncate(path, 4)],
    ['a longer file', (path) => writeFile(path, 'damaged content and more')],
    ['a missing file', (path) => rm(path)],
  ];
  it.each(damages)(
    'never ends clean with %s; the incident ends when it is stored again',
    async (name, damage) => {
      const blobs = test.open();
      const content = Buffer.from('damaged content');
      const { digest } = await blobs.put(content, { tenantId: test.tenantId, maxBytes: 100 });
      await damage(pathOf(test.folder, digest));
      const read = async () => await contentOf(await blobs.open(digest));
      await expect(read(), name).rejects.toMatchObject({ code: 'corrupt' });
      expect(await openIncidents(digest)).toBe(1);
      expect(await blobs.stat(digest)).toBeNull();
      await expect(read()).rejects.toMatchObject({ code: 'corrupt' });
      await blobs.put(content, { tenantId: test.tenantId, maxBytes: 100 });
      expect((await read()).equals(content)).toBe(true);
      expect(await openIncidents(digest)).toBe(0);
    },
  );

  it('fails with a typed error on a full disk and leaves nothing (needs root)', async (ctx) => {
    if (process.getuid?.() !== 0) return ctx.skip('needs root');
    const folder = await mkdtemp(join(tmpdir(), 'gpuaas-full-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      await rm(folder, { recursive: true });
      return ctx.skip('needs the right to mount');
    }
    try {
      const blobs = test.open({ settings: { folder, s3: null } });
      const put = (bytes: number, fill: string) =>
        blobs.put(Buffer.alloc(bytes, fill), { tenantId: null, maxBytes: 10 * MiB });
      await expect(put(2 * MiB, 'f')).rejects.toMatchObject({ code: 'full' });
      expect(await filesBelow(folder)).toEqual([]);
      await put(1000, 'f');
    } finally {
      execFileSync('umount', [folder]);
      await rm(folder, { recursive: true });
    }
  });
});

describe('writers', () => {
  it('of the same content at the same time all succeed, and it is there once', async () => {
    const content = Buffer.alloc(200_000, 'w');
    const stores = [test.open(), test.open(), test.open()];
    const puts = Array.from({ length: 12 }, (_, n) =>
      stores[n % 3]!.put(content, {
        tenantId: n % 2 === 0 ? test.tenantId : test.otherTenantId,
        maxBytes: content.length,
      }),
    );
    const digests = new Set((await Promise.all(puts)).map(({ digest }) => digest));
    expect(digests.size).toBe(1);
    const [digest] = [...digests] as [string];
    expect((await contentOf(await stores[0]!.open(digest))).equals(content)).toBe(true);
    const holders = await test.db
      .selectFrom('blob_holders')
      .select('id')
      .where('digest', '=', digest)
      .execute();
    expect(holders).toHaveLength(2);
  });

  it('that are killed between any two steps leave no half content, and nothing after the grace period', async () => {
    const blobs = test.open();
    const main = join(import.meta.dirname, '../../harness/processes/blob-writer.ts');
    const run = (text: string, step: string) =>
      promisify(execFile)(process.execPath, [
        '--disable-warning=ExperimentalWarning',
        main,
        test.url,
        test.folder,
        test.tenantId,
        text,
        step,
      ]);
    for (const step of ['received', 'announced', 'written', 'stored']) {
      const text = `killed when ${step}`;
      await expect(run(text, step), step).rejects.toMatchObject({ signal: 'SIGKILL' });
      const found = await blobs.stat(digestOf(text));
      expect(found === null, step).toBe(step !== 'stored');
      if (found) expect(String(await contentOf(await blobs.open(digestOf(text))))).toBe(text);
    }
    const again = 'killed when written';
    await blobs.put(Buffer.from(again), { tenantId: test.tenantId, maxBytes: 100 });
    expect(String(await contentOf(await blobs.open(digestOf(again))))).toBe(again);

    const spooled = await filesBelow(join(test.folder, 'spool'));
    expect(spooled.length).toBeGreaterThan(0);
    const longAgo = new Date(Date.now() - 60 * 86_400_000);
    for (const file of spooled) await utimes(file, longAgo, longAgo);
    await letGraceHavePassed(test.db);
    await expect(run('', 'removed'), 'a collector').rejects.toMatchObject({ signal: 'SIGKILL' });
    await blobs.collect();
    expect(await filesBelow(test.folder)).toEqual([]);
    expect(await test.db.selectFrom('blobs').select('digest').execute()).toEqual([]);
    expect(await usedBy(test.tenantId)).toBe(0);
  });
});

describe('a writer whose content is collected before it recorded it', () => {
  // Without a grace period the collector takes what a writer has announced, too.
  it.each([
    ['new', false],
    ['stored before', true],
  ])('writes it again, and does not vouch for what another is writing: %s', async (name, isStored) => {
    const content = Buffer.from(`overtaken, ${name}`);
    const options = { tenantId: test.tenantId, maxBytes: 100 };
    const collector = test.open(withoutGrace());
    if (isStored) await collector.put(content, options);
    const announced = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    const slow = test.open({
      onStep: async (step) => {
        if (step !== 'announced') return;
        announced.resolve();
        await mayGoOn.promise;
      },
    });
    let overtaken = 0;
    const first = test.open({
      onStep: async (step) => {
        if (step !== 'written' || overtaken++ > 0) return;
        await collector.collect();
        expect(await filesBelow(join(test.folder, 'sha256')), 'collected').not.toContain(
          pathOf(test.folder, digestOf(content)),
        );
        late = slow.put(content, options);
        await announced.promise;
      },
    });
    const { digest } = await first.put(content, options);
    expect(overtaken).toBeGreaterThan(1);
    expect((await contentOf(await first.open(digest))).equals(content)).toBe(true);
    mayGoOn.resolve();
    await late;
    expect((await contentOf(await first.open(digest))).equals(content)).toBe(true);
  });
});

describe('the quota of a tenant', () => {
  it('is never exceeded by parallel puts; the refusal names what is used and allowed', async () => {
    const before = await usedBy(test.otherTenantId);
    const quota = before + 5000;
    const stores = [test.open({ quota }), test.open({ quota })];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        stores[n % 2]!.put(Buffer.alloc(1000, `quota ${n}`), {
          tenantId: test.otherTenantId,
          maxBytes: 1000,
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await usedBy(test.otherTenantId)).toBe(quota);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({
      code: 'storage_quota_exceeded',
      options: { extensions: { limit: quota, asked: 1000 } },
    });
    // What it holds already costs nothing, also with a full quota.
    const held = Buffer.alloc(1000, 'quota 0');
    const holds = await stores[0]!.put(held, { tenantId: test.otherTenantId, maxBytes: 1000 }).then(
      () => true,
      () => false,
    );
    expect(holds).toBe(outcomes[0]!.status === 'fulfilled');
    await stores[0]!.collect();
    expect(
      await test.db.selectFrom('blobs').select('digest').where('state', '<>', 'stored').execute(),
    ).toEqual([]);
    await stores[0]!.put(Buffer.alloc(9000), { tenantId: null, maxBytes: 9000 });
  });

  it('counts content of each tenant that stored it, and gives it back with the last reference', async () => {
    const blobs = test.open();
    const content = Buffer.from('shared by two tenants');
    const [mine, theirs] = [await usedBy(test.tenantId), await usedBy(test.otherTenantId)];
    for (const tenantId of [test.tenantId, test.otherTenantId, test.tenantId])
      await blobs.put(content, { tenantId, maxBytes: 100 });
    expect(await usedBy(test.tenantId)).toBe(mine + content.length);
    expect(await usedBy(test.otherTenantId)).toBe(theirs + content.length);
  });
});

describe('references', () => {
  it('keep content from collection until the last one of any tenant is dropped', async () => {
    const blobs = test.open();
    const content = Buffer.from('kept by references');
    const digest = digestOf(content);
    await blobs.put(content, { tenantId: test.tenantId, maxBytes: 100 });
    await blobs.put(content, { tenantId: test.otherTenantId, maxBytes: 100 });
    const [one, two, other] = [newId(), newId(), newId()];
    await keep(digest, test.tenantId, one);
    await keep(digest, test.tenantId, one);
    await keep(digest, test.tenantId, two);
    await keep(digest, test.otherTenantId, other);
    const afterGrace = async (): Promise<boolean> => {
      await letGraceHavePassed(test.db);
      await blobs.collect();
      return (await blobs.stat(digest)) !== null;
    };
    expect(await afterGrace()).toBe(true);
    await drop(one);
    expect(await afterGrace()).toBe(true);
    await drop(other);
    expect(await afterGrace()).toBe(true);
    await drop(two);
    await blobs.collect();
    expect(await blobs.stat(digest), 'within the grace period').not.toBeNull();
    expect(await afterGrace()).toBe(false);
    await expect(readFile(pathOf(test.folder, digest))).rejects.toThrow('ENOENT');
    await expect(keep(digest, test.tenantId, one)).rejects.toMatchObject({ code: 'missing' });
  });

  it('cannot be taken on content that only another tenant stored', async () => {
    const content = Buffer.from('of the other tenant');
    await test.open().put(content, { tenantId: test.otherTenantId, maxBytes: 100 });
    await expect(keep(digestOf(content), test.tenantId, newId())).rejects.toMatchObject({ code: 'missing' });
    await expect(keep(digestOf(content), null, newId())).rejects.toMatchObject({ code: 'missing' });
  });

  it('hold whatever a collection does at the same moment', async () => {
    // Without a grace period the collector takes everything it can between any two steps of a writer.
    const blobs = test.open(withoutGrace());
    let done = false;
    const collecting = (async () => {
      while (!done) await blobs.collect();
    })();
    let kept = 0;
    const contents = Array.from({ length: 6 }, (_, n) => Buffer.alloc(5000, `raced ${n}`));
    await Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let round = 0; round < 15; round++) {
          const content = contents[(writer + round) % contents.length]!;
          const subject = newId();
          const tenantId = writer % 2 === 0 ? test.tenantId : test.otherTenantId;
          try {
            const { digest } = await blobs.put(content, { tenantId, maxBytes: 5000 });
            await keep(digest, tenantId, subject);
          } catch (error) {
            expect(['missing', 'unavailable']).toContain((error as { code: string }).code);
            continue;
          }
          kept += 1;
          expect((await contentOf(await blobs.open(digestOf(content)))).equals(content)).toBe(true);
          await drop(subject);
        }
      }),
    ).finally(() => (done = true));
    await collecting;
    expect(kept).toBeGreaterThan(0);
    const damaged = await test.db
      .selectFrom('blobs')
      .select('digest')
      .where('state', '=', 'corrupt')
      .execute();
    expect(damaged).toEqual([]);
  });
});
