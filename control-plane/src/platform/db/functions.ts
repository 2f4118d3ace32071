import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MigrationError } from './migrations.ts';

/** One file of `control-plane/functions`: a function as it is now, with its grants and triggers. */
export type SqlFunction = { name: string; sql: string };

/**
 * A file marked `-- plan: by index` holds a function that is given one row or hundreds. It gets one plan for all sizes,
 * through indexes: planning again costs more than most of them do, and a plan made for hundreds of rows reads whole
 * tables for one.
 */
const PLAN_BY_INDEX = /^-- plan: by index$/m;
const PLANNER_SETTINGS = [
  'plan_cache_mode = force_generic_plan',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'enable_seqscan = off',
];

export const FUNCTIONS_FOLDER = join(import.meta.dirname, '../../../functions');

/** Reads `<name>.sql` files by name. Each may be applied any number of times. */
export async function readFunctions(folder: string): Promise<SqlFunction[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const name = file.slice(0, -4);
      const sql = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      if (!new RegExp(`^create or replace function ${name} ?\\(`, 'm').test(sql))
        throw new MigrationError(
          'bad_file_name',
          `functions/${file} does not contain "create or replace function ${name}(".`,
        );
      if (!PLAN_BY_INDEX.test(sql)) return { name, sql };
      const settings = PLANNER_SETTINGS.map((setting) => `alter function ${name} set ${setting};`);
      return { name, sql: `${sql}\n${settings.join('\n')}\n` };
    }),
  );
}

/** Changes with any file, so that a database knows whether it has the functions of this release. */
export function checksumOf(functions: readonly SqlFunction[]): string {
  const hash = createHash('sha256');
  for (const { name, sql } of functions) hash.update(`${name}\n${sql}\n`);
  return hash.digest('hex');
}
