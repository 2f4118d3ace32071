import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
