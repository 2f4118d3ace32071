import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { createTestDatabase, runAsAdmin } from './testing.ts';

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-migrations-'));
  database = await createTestDatabase();
  await runAsAdmin(database.url, 'delete from schema_migrations');
  await writeFile(
    join(folder, '0001_racks.sql'),
    'create table test_racks (id int);\ncreate table test_rows (id int);',
  );
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function tableExists(name: string): Promise<boolean> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    name,
  ]);
  await client.end();
  return rows[0]?.found ?? false;
}

const run = () => migrate(database.url, undefined, folder);

test('files are applied in order and only once', async () => {
  expect(await run()).toEqual({ applied: ['0001_racks'] });
  await writeFile(join(folder, '0002_name.sql'), 'alter table test_racks add column name text');
  expect(await run()).toEqual({ applied: ['0002_name'] });
  expect(await run()).toEqual({ applied: [] });
});

test('two starts at once apply each file once', async () => {
  const results = await Promise.all([run(), run(), run()]);
  expect(results.flatMap(({ applied }) => applied)).toEqual(['0001_racks']);
});

test('a failing file names its line, leaves nothing of itself and can be repaired', async () => {
  const second = join(folder, '0002_slots.sql');
  await writeFile(second, 'create table test_slots (id int);\n\ninsert into nowhere values (1);');
  await expect(run()).rejects.toMatchObject({
    code: 'migration_failed',
    message: expect.stringMatching(/0002_slots\.sql failed at line 3: .*nowhere/) as string,
  });
  expect(await tableExists('test_racks')).toBe(true);
  expect(await tableExists('test_slots')).toBe(false);
  await writeFile(second, 'create table test_slots (id int)');
  expect(await run()).toEqual({ applied: ['0002_slots'] });
});

test('an applied file must not change, apart from its line ends', async () => {
  await run();
  await writeFile(
    join(folder, '0001_racks.sql'),
    'create table test_racks (id int);\r\ncreate table test_rows (id int);',
  );
  expect(await run()).toEqual({ applied: [] });
  await writeFile(join(folder, '0001_racks.sql'), 'create table test_racks (id bigint);');
  await expect(run()).rejects.toMatchObject({ code: 'changed_after_applied' });
});

test('a database from a newer release is refused', async () => {
  await writeFile(join(folder, '0002_name.sql'), 'alter table test_racks add column name text');
  await run();
  await rm(join(folder, '0002_name.sql'));
  await expect(run()).rejects.toMatchObject({ code: 'database_is_newer' });
});

test('a file that slips in before an applied one is refused', async () => {
  await writeFile(join(folder, '0003_name.sql'), 'alter table test_racks add column name text');
  await run();
  await writeFile(join(folder, '0002_late.sql'), 'select 1');
  await expect(run()).rejects.toMatchObject({ code: 'out_of_order' });
});

test('misnamed and twice-numbered files are refused', async () => {
  await writeFile(join(folder, '0001_again.sql'), 'select 1');
  await expect(run()).rejects.toMatchObject({ code: 'bad_file_name' });
  await rm(join(folder, '0001_again.sql'));
  await writeFile(join(folder, 'fix.sql'), 'select 1');
  await expect(run()).rejects.toMatchObject({ code: 'bad_file_name' });
});

async function serverVersion(): Promise<string> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  await client.end();
  return rows[0]!.server_version_num;
}

/** The same server as seen by somebody to whom it says that it is PostgreSQL 14.22. */
async function olderServer(): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(database.url);
  const version = await serverVersion();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream);
    upstream.on('data', (data: Buffer) => {
      client.write(Buffer.from(data.toString('latin1').replace(version, '140022'), 'latin1'));
    });
    client.on('close', () => upstream.destroy()).on('error', () => undefined);
    upstream.on('close', () => client.destroy()).on('error', () => undefined);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(database.url);
  url.port = String((proxy.address() as AddressInfo).port);
  return { url: url.href, close: () => proxy.close() };
}

test('a server older than 15 is refused, untouched', async () => {
  const older = await olderServer();
  await expect(migrate(older.url, undefined, folder)).rejects.toMatchObject({
    code: 'unsupported_server_version',
    message: expect.stringContaining('PostgreSQL 14.22; the platform needs 15 or newer') as string,
  });
  older.close();
  expect(await tableExists('test_racks')).toBe(false);
});
