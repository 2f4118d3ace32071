import { Client, DatabaseError } from 'pg';
import { checksumOf, FUNCTIONS_FOLDER, readFunctions } from './functions.ts';
import { MIGRATIONS_FOLDER, MigrationError, pendingMigrations, readMigrations } from './migrations.ts';
import { requireSupportedServer } from './require-supported-server.ts';
import type { SqlFunction } from './functions.ts';
import type { AppliedMigration, Migration } from './migrations.ts';

export { MigrationError } from './migrations.ts';

/** Any fixed number works, as long as every release uses the same one. */
const MIGRATION_LOCK = 4_872_001;
const UNDEFINED_OBJECT = '42704';

/** Where a release keeps its schema. Tests that stop at an old migration have no functions to apply. */
export type SchemaFolders = { migrations: string; functions?: string };

export const SCHEMA_FOLDERS: SchemaFolders = { migrations: MIGRATIONS_FOLDER, functions: FUNCTIONS_FOLDER };

/**
 * Brings the schema up to date: migrations forward only, one transaction per file, then the functions as this release
 * has them.
 */
export async function migrate(
  url: string,
  log: (line: string) => void = () => undefined,
  folders: SchemaFolders = SCHEMA_FOLDERS,
): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(folders.migrations);
  const functions = folders.functions === undefined ? [] : await readFunctions(folders.functions);
  const client = new Client({ connectionString: url });
  // A broken connection also fails the query in flight; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows: versions } = await client.query<{ server_version_num: string }>('show server_version_num');
    requireSupportedServer(Number(versions[0]?.server_version_num));
    // Ends with the session, so a killed start cannot leave it behind.
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      `create table if not exists public.schema_migrations (
         version text primary key,
         checksum text not null,
         applied_at timestamptz not null default now()
       )`,
    );
    await client.query(
      `create table if not exists public.schema_functions (
         only_row boolean primary key default true check (only_row),
         checksum text not null,
         applied_at timestamptz not null default now()
       )`,
    );
    const { rows } = await client.query<AppliedMigration>(
      'select version, checksum from public.schema_migrations',
    );
    const pending = pendingMigrations(migrations, rows);
    for (const migration of pending) {
      await apply(client, migration);
      log(`applied migration ${migration.version}`);
    }
    // A migration may have replaced a function with an older text, so each one is followed by all functions.
    if (functions.length > 0 && (pending.length > 0 || !(await hasFunctions(client, functions)))) {
      await applyFunctions(client, functions);
      log(`applied ${functions.length} functions`);
    }
    return { applied: pending.map(({ version }) => version) };
  } finally {
    await client.end();
  }
}

/** Refuses a database that `migrate` has not brought to this release. */
export async function requireMigrated(url: string): Promise<void> {
  const migrations = await readMigrations(MIGRATIONS_FOLDER);
  const functions = await readFunctions(FUNCTIONS_FOLDER);
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows: found } = await client.query<{ known: boolean }>(
      "select to_regclass('public.schema_migrations') is not null as known",
    );
    const { rows } = found[0]?.known
      ? await client.query<AppliedMigration>('select version, checksum from public.schema_migrations')
      : { rows: [] };
    const [first, ...more] = pendingMigrations(migrations, rows);
    if (!first) {
      if (await hasFunctions(client, functions)) return;
      throw new MigrationError(
        'not_migrated',
        'The SQL functions of the database differ from those of this release. ' +
          'Run node control-plane/src/roles/migrate.ts with the same DATABASE_URL first.',
      );
    }
    throw new MigrationError(
      'not_migrated',
      `The database lacks ${more.length + 1} migrations, the first is ${first.version}. ` +
        'Run node control-plane/src/roles/migrate.ts with the same DATABASE_URL first.',
    );
  } finally {
    await client.end();
  }
}

/**
 * Roles belong to the server: another database that is migrated meanwhile may make one between our check and our use of it.
 * A second attempt finds it.
 */
async function apply(client: Client, migration: Migration, isSecond = false): Promise<void> {
  const { version, sql, checksum } = migration;
  await client.query('begin');
  try {
    await client.query(sql);
    await client.query('insert into public.schema_migrations (version, checksum) values ($1, $2)', [
      version,
      checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    if (!isSecond && error instanceof DatabaseError && error.code === UNDEFINED_OBJECT)
      return await apply(client, migration, true);
    throw new MigrationError('migration_failed', `${version}.sql${describe(error, sql)}`, { cause: error });
  }
}

async function hasFunctions(client: Client, functions: readonly SqlFunction[]): Promise<boolean> {
  const { rows: known } = await client.query<{ known: boolean }>(
    "select to_regclass('public.schema_functions') is not null as known",
  );
  if (!known[0]?.known) return false;
  const { rows } = await client.query<{ checksum: string }>('select checksum from public.schema_functions');
  return rows[0]?.checksum === checksumOf(functions);
}

/** All in one transaction; functions may call each other, so their bodies are checked when they run. */
async function applyFunctions(client: Client, functions: readonly SqlFunction[]): Promise<void> {
  await client.query('begin');
  try {
    await client.query('set local check_function_bodies = off');
    for (const { name, sql } of functions) await applyFunction(client, name, sql);
    await client.query(
      `insert into public.schema_functions (checksum) values ($1)
       on conflict (only_row) do update set checksum = excluded.checksum, applied_at = now()`,
      [checksumOf(functions)],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function applyFunction(client: Client, name: string, sql: string): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    throw new MigrationError('migration_failed', `functions/${name}.sql${describe(error, sql)}`, {
      cause: error,
    });
  }
}

function describe(error: unknown, sql: string): string {
  if (!(error instanceof DatabaseError))
    return ` failed: ${error instanceof Error ? error.message : String(error)}`;
  const line = error.position && ` at line ${sql.slice(0, Number(error.position)).split('\n').length}`;
  // Includes the row: the operator must find it in a large database.
  return ` failed${line ?? ''}: ${error.message}${error.detail ? `. ${error.detail}` : ''}`;
}
