/**
 * Files derived from the migrated schema: kysely's types, `schema.sql` and the diagram in `docs/schema.md`.
 * `--check` fails on drift instead of writing.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate, getDialect, type ExpressionNode } from 'kysely-codegen';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { columnTypes } from './column-types.ts';
import { drawSchema } from './schema-diagram.ts';
import { dumpSchema } from './schema-dump.ts';
import { STORED_COLUMNS } from './stored-columns.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const typesFile = join(root, 'control-plane/src/platform/db/generated/schema.ts');
const sqlFile = join(root, 'control-plane/schema.sql');
const diagramFile = join(root, 'docs/schema.md');

const check = process.argv.includes('--check');
const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-types-'));
const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
try {
  await migrate(postgres.url);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    keep(typesFile, await generateTypes(postgres.url, await columnTypes(client)));
    keep(sqlFile, await dumpSchema(client));
    keep(diagramFile, await drawSchema(client));
  } finally {
    await client.end();
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function generateTypes(url: string, columns: Record<string, ExpressionNode>): Promise<string> {
  const dialect = getDialect('postgres');
  const db = await dialect.introspector.connect({ connectionString: url, dialect });
  try {
    return await generate({
      db,
      dialect,
      outFile: null,
      excludePattern: 'public.schema_(migrations|functions)',
      typeMapping: { int8: 'bigint' },
      overrides: { columns },
      customImports: Object.fromEntries(
        Object.values(STORED_COLUMNS).map((type) => [type, '../stored-types.ts']),
      ),
    });
  } finally {
    await db.destroy();
  }
}

function keep(file: string, text: string): void {
  if (!check) {
    writeFileSync(file, text);
    return;
  }
  let kept = '';
  try {
    kept = readFileSync(file, 'utf8');
  } catch {
    // A missing file differs too.
  }
  if (kept === text) return;
  console.error(`${relative(root, file)} differs from the migrated schema; run npm run generate:db`);
  process.exitCode = 1;
}
