import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type MigrationErrorCode =
  | 'bad_file_name'
  | 'changed_after_applied'
  | 'database_is_newer'
  | 'out_of_order'
  | 'not_migrated'
  | 'migration_failed';

/** The schema cannot be updated; the message names the file and the reason. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly code: MigrationErrorCode;

  constructor(code: MigrationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type Migration = { version: string; sql: string; checksum: string };
export type AppliedMigration = { version: string; checksum: string };

export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations');

/** Reads `NNNN_name.sql` files in order. A missing folder counts as empty. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.sql')).sort();
  const seen = new Set<string>();
  return Promise.all(
    files.map(async (file) => {
      const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1];
      if (number === undefined)
        throw new MigrationError('bad_file_name', `${file} is not named NNNN_name.sql.`);
      if (seen.has(number))
        throw new MigrationError('bad_file_name', `Two migrations have the number ${number}.`);
      seen.add(number);
      // A checkout with CRLF line ends must not look like an edited migration.
      const sql = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      return { version: file.slice(0, -4), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Migrations left to apply; throws if database and files do not share one history. */
export function pendingMigrations(known: Migration[], applied: AppliedMigration[]): Migration[] {
  for (const { version, checksum } of applied) {
    const file = known.find((migration) => migration.version === version);
    if (!file) {
      throw new MigrationError(
        'database_is_newer',
        `The database has migration ${version}, which this release does not know. Start a release that does.`,
      );
    }
    if (file.checksum !== checksum) {
      throw new MigrationError(
        'changed_after_applied',
        `${version}.sql was changed after it was applied. Undo the change and add a new migration instead.`,
      );
    }
  }
  const newest =
    applied
      .map(({ version }) => version)
      .sort()
      .at(-1) ?? '';
  const pending = known.filter(({ version }) => !applied.some((done) => done.version === version));
  const late = pending.find(({ version }) => version < newest);
  if (late) {
    throw new MigrationError(
      'out_of_order',
      `${late.version} comes before ${newest}, which is already applied.`,
    );
  }
  return pending;
}
