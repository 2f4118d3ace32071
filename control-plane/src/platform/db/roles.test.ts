import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from './database.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { migrate } from './migrate.ts';
import { inScope } from './scope.ts';
import { platformRoles } from './testing/catalog.ts';
import { writeTenantRows } from './testing/tenant-rows.ts';
import { runAsAdmin } from './testing.ts';

// A separate server: roles belong to the whole server, and these tests need one without ours.
let dataDir: string;
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-roles-'));
  server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  await runAsAdmin(
    server.url,
    `create role builder login password 'p' createrole`,
    `create role guest login password 'p'`,
    ...['one', 'two', 'three'].map((name) => `create database ${name} owner builder`),
    'create database of_guest owner guest',
  );
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

function urlFor(user: string, database: string): string {
  const url = new URL(server.urlFor(database));
  url.username = user;
  url.password = 'p';
  return url.href;
}

async function expectScopesWork(url: string): Promise<void> {
  const database = openDatabase(url, { max: 2 });
  try {
    for (const role of await platformRoles(database.db)) {
      const acting = await inScope(database.db, { role: role as 'gpuaas_tenant' }, async (tx) => {
        const { rows } = await sql<{ role: string }>`select current_user::text as role`.execute(tx);
        return rows[0]!.role;
      });
      expect(acting).toBe(role);
    }
    // Row-level security does not hide rows from the owner, superuser or not.
    await writeTenantRows(database.db, 'one');
    const asWorker = (statement: string) =>
      inScope(database.db, { role: 'gpuaas_worker' }, (tx) => sql.raw(statement).execute(tx));
    await expect(asWorker(`update node_resource_slots set state = 'available'`)).rejects.toThrow(
      'no verified wipe',
    );
    await asWorker('update allocation_resource_claims set released_at = now()');
    await asWorker('select create_month_partitions()');
  } finally {
    await database.close();
  }
}

test('a user who may make roles migrates several databases of one server concurrently', async () => {
  const urls = ['one', 'two', 'three'].map((name) => urlFor('builder', name));
  await Promise.all(urls.map((url) => migrate(url)));
  for (const url of urls) await expectScopesWork(url);
});

test('a user without CREATEROLE gets an error with the needed grants, and succeeds with the roles', async () => {
  const url = urlFor('guest', 'of_guest');
  await expect(migrate(url)).rejects.toThrow(/guest can neither make nor take the role gpuaas_/);
  const admin = openDatabase(server.url, { max: 1 });
  const roles = await platformRoles(admin.db);
  await admin.close();
  await runAsAdmin(server.url, ...roles.map((role) => `grant ${role} to guest`));
  await migrate(url);
  await expectScopesWork(url);
});
