import { Client, DatabaseError } from 'pg';
import { MIGRATIONS_FOLDER, MigrationError, pendingMigrations, readMigrations } from './migrations.ts';
import { requireSupportedServer } from './server-version.ts';
import type { AppliedMigration, Migration } from './migrations.ts';

export { MigrationError } from './migrations.ts';

/** Any fixed number serves, as long as every release asks for the same one. */
const MIGRATION_LOCK = 4_872_001;

/** Brings the schema up to date, forward only, one transaction per file. */
export async function migrate(
  url: string,
  log: (line: string) => void = () => undefined,
  folder: string = MIGRATIONS_FOLDER,
): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(folder);
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
    const { rows } = await client.query<AppliedMigration>(
      'select version, checksum from public.schema_migrations',
    );
    const pending = pendingMigrations(migrations, rows);
    for (const migration of pending) {
      await apply(client, migration);
      log(`applied migration ${migration.version}`);
    }
    return { applied: pending.map(({ version }) => version) };
  } finally {
    await client.end();
  }
}

/** Refuses a database that `migrate` has not brought to this release. */
export async function requireMigrated(url: string, folder: string = MIGRATIONS_FOLDER): Promise<void> {
  const migrations = await readMigrations(folder);
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
    if (!first) return;
    throw new MigrationError(
      'not_migrated',
      `The database lacks ${more.length + 1} migrations, the first is ${first.version}. ` +
        'Run node control-plane/src/roles/migrate.ts with the same DATABASE_URL first.',
    );
  } finally {
    await client.end();
  }
}

async function apply(client: Client, { version, sql, checksum }: Migration): Promise<void> {
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
    throw new MigrationError('migration_failed', `${version}.sql${describe(error, sql)}`, { cause: error });
  }
}

function describe(error: unknown, sql: string): string {
  if (!(error instanceof DatabaseError))
    return ` failed: ${error instanceof Error ? error.message : String(error)}`;
  const line = error.position && ` at line ${sql.slice(0, Number(error.position)).split('\n').length}`;
  // Which row it was: who runs it must find it in a database full of them.
  return ` failed${line ?? ''}: ${error.message}${error.detail ? `. ${error.detail}` : ''}`;
}
