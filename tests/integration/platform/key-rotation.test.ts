import { spawn, type ChildProcess } from 'node:child_process';
import { createCipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { addKeyVersion, KeyFile } from '@gpuaas/control-plane/platform/keys/key-file';
import { loadPlatformKeys } from '@gpuaas/control-plane/platform/keys/platform-keys';
import { Sealer } from '@gpuaas/control-plane/platform/keys/seal';
import { sealedColumns } from '@gpuaas/control-plane/platform/keys/sealed-columns';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../control-plane/scripts/rotate-keys.ts', import.meta.url));
const ROWS = 400;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let open: Database;
let folder: string;
let keyFile: string;
beforeAll(async () => {
  database = await createTestDatabase();
  open = openDatabase(database.url, { max: 4 });
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-keys-'));
  keyFile = join(folder, 'platform.key');
});
afterAll(async () => {
  await open?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

function start(word?: string): ChildProcess {
  return spawn(process.execPath, [SCRIPT, ...(word ? [word] : [])], {
    env: { ...process.env, DATABASE_URL: database.url, GPUAAS_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function run(word?: string): Promise<{ code: number | null; output: string }> {
  const child = start(word);
  let output = '';
  child.stdout!.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** As releases without versions sealed it. */
function sealedBefore(key: Buffer, plain: string, context: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

async function versions(): Promise<Record<string, number>> {
  const { rows } = await sql<{ version: number; count: number }>`
    select get_byte(sealed_id_token, 0) as version, count(*)::int as count from sign_ins group by 1`.execute(
    open.db,
  );
  return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
}

const tokenOf = (id: string): string => `token of ${id}`;

async function readAll(sealer: Sealer): Promise<void> {
  const rows = await open.db.selectFrom('sign_ins').select(['id', 'sealed_id_token']).execute();
  expect(rows).toHaveLength(ROWS);
  for (const { id, sealed_id_token: sealed } of rows)
    expect(sealer.open('id_token', sealed!, `sign_in:${id}`)).toBe(tokenOf(id));
}

it('knows every column with sealed values', async () => {
  const { rows } = await sql<{ name: string }>`select table_name || '.' || column_name as name
    from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' and column_name like 'sealed%' order by 1`.execute(
    open.db,
  );
  expect(sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
    rows.map(({ name }) => name),
  );
});

describe('the platform key', () => {
  it('gets a new version, and a rotation that is killed goes on where it ended', async () => {
    // A process that has been running since before, with the key of then.
    const keys = await KeyFile.open(keyFile);
    const running = new Sealer(keys);
    const before = await loadPlatformKeys(open.db, running);
    const user = newId();
    await sql`insert into users (id, issuer, subject, email, name)
      values (${user}, 'test', ${user}, 'key@example.test', 'Key')`.execute(open.db);
    for (let row = 0; row < ROWS; row += 1) {
      const id = newId();
      const sealed = sealedBefore(keys.newest().key, tokenOf(id), `sign_in:${id}`);
      await sql`insert into sign_ins (id, id_hash, user_id, csrf_token, expires_at, sealed_id_token)
        values (${id}, ${randomBytes(32)}, ${user}, 'c', now() + interval '1 hour', ${sealed})`.execute(
        open.db,
      );
    }
    expect((await run('verify')).code).toBe(1);

    // It comes as far as a row that somebody holds, and dies there.
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = open.db.transaction().execute(async (tx) => {
      await sql`select from sign_ins order by id desc limit 1 for update`.execute(tx);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const killed = start();
    for await (const line of createInterface({ input: killed.stdout! }))
      if (line.startsWith('sign_ins')) break;
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const half = await versions();
    held.resolve();
    await holder;
    expect(half['2']).toBeGreaterThan(0);
    expect(half['2']).toBeLessThan(ROWS);
    expect((await run('verify')).code).toBe(1);

    const { code, output } = await run();
    expect(output).toContain('going on with version 2');
    expect(code).toBe(0);
    expect(await versions()).toEqual({ 2: ROWS });
    expect((await readFile(keyFile, 'utf8')).trim().split('\n')).toHaveLength(2);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);

    // The process that runs reads the file again when it meets the new version.
    await expect
      .poll(async () =>
        readAll(running).then(
          () => 'all read',
          () => 'not yet',
        ),
      )
      .toBe('all read');
    const after = await loadPlatformKeys(open.db, new Sealer(await KeyFile.open(keyFile)));
    expect(after.signing.publicPem).toBe(before.signing.publicPem);
    expect(after.audit.id).toBe(before.audit.id);
    // And seals with it before long.
    await expect.poll(() => running.seal('id_token', 'x', 'y')[0], { timeout: 60_000 }).toBe(2);
  }, 240_000);

  it('keeps its older versions until nothing needs them', async () => {
    expect((await run('retire')).output).toContain('less than a minute old');
    const longAgo = new Date(Date.now() - 600_000);
    await utimes(keyFile, longAgo, longAgo);
    const first = (await KeyFile.open(keyFile)).find(1)!;
    const { id } = await open.db.selectFrom('sign_ins').select('id').limit(1).executeTakeFirstOrThrow();
    const stale = sealedBefore(first, tokenOf(id), `sign_in:${id}`);
    await sql`update sign_ins set sealed_id_token = ${stale} where id = ${id}`.execute(open.db);
    expect(await run('retire')).toMatchObject({ code: 1 });
    expect((await run('reseal')).code).toBe(0);
    expect((await run('retire')).code).toBe(0);
    const left = await KeyFile.open(keyFile);
    expect([left.find(1), left.newest().version]).toEqual([null, 2]);
    await readAll(new Sealer(left));
    expect(await addKeyVersion(keyFile)).toBe(3);
  }, 240_000);

  it('that is lost is named, not made again', async () => {
    const other = await KeyFile.open(join(folder, 'other.key'));
    await expect(loadPlatformKeys(open.db, new Sealer(other))).rejects.toThrow('restore platform.key');
  });
});
