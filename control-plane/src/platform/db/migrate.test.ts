import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

const run = () => migrate(database.url, undefined, { migrations: folder });

test('files are applied in order and only once', async () => {
  expect(await run()).toEqual({ applied: ['0001_racks'] });
  await writeFile(join(folder, '0002_name.sql'), 'alter table test_racks add column name text');
  expect(await run()).toEqual({ applied: ['0002_name'] });
  expect(await run()).toEqual({ applied: [] });
});

test('two concurrent starts apply each file once', async () => {
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

describe('functions', () => {
  let functions: string;
  const runBoth = () => migrate(database.url, undefined, { migrations: folder, functions });
  const rackNumber = (body: string) =>
    writeFile(
      join(functions, 'test_rack_number.sql'),
      `create or replace function test_rack_number() returns integer language sql as $$ ${body} $$;`,
    );
  const answer = async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ n: number }>('select test_rack_number() as n');
      return rows[0]?.n;
    } finally {
      await client.end();
    }
  };

  beforeEach(async () => {
    functions = await mkdtemp(join(tmpdir(), 'gpuaas-functions-'));
    await rackNumber('select 1');
  });
  afterEach(() => rm(functions, { recursive: true, force: true }));

  test('are applied after the migrations and again whenever a file changes', async () => {
    await runBoth();
    expect(await answer()).toBe(1);
    await rackNumber('select 2');
    expect(await runBoth()).toEqual({ applied: [] });
    expect(await answer()).toBe(2);
  });

  test('win over an older text that a later migration brings', async () => {
    await runBoth();
    await writeFile(
      join(folder, '0002_older.sql'),
      'create or replace function test_rack_number() returns integer language sql as $$ select 0 $$;',
    );
    await runBoth();
    expect(await answer()).toBe(1);
  });

  test('apply all or none, and a failure names its file', async () => {
    await runBoth();
    await rackNumber('select 2');
    await writeFile(
      join(functions, 'test_zone.sql'),
      'create or replace function test_zone() returns nothing;',
    );
    await expect(runBoth()).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('functions/test_zone.sql failed') as string,
    });
    expect(await answer()).toBe(1);
  });

  test('stand in the file of their name', async () => {
    await writeFile(join(functions, 'test_zone.sql'), 'select 1');
    await expect(runBoth()).rejects.toMatchObject({ code: 'bad_file_name' });
  });
});

async function serverVersion(): Promise<string> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  await client.end();
  return rows[0]!.server_version_num;
}

/** The same server through a proxy that reports PostgreSQL 14.22. */
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
  await expect(migrate(older.url, undefined, { migrations: folder })).rejects.toMatchObject({
    code: 'unsupported_server_version',
    message: expect.stringContaining('PostgreSQL 14.22; the platform needs 15 or newer') as string,
  });
  older.close();
  expect(await tableExists('test_racks')).toBe(false);
});
