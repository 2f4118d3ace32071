/**
 * What is derived from the migrated schema: kysely's types, `schema.sql` and the diagram in `docs/schema.md`.
 * `--check` fails on drift instead of writing.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { drawSchema } from './schema-diagram.ts';
import { dumpSchema } from './schema-dump.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const typesFile = join(root, 'control-plane/src/platform/db/generated/schema.ts');
const sqlFile = join(root, 'control-plane/schema.sql');
const diagramFile = join(root, 'docs/schema.md');

const check = process.argv.includes('--check');
const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-types-'));
const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
try {
  await migrate(postgres.url);
  generateTypes(postgres.url);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    keep(sqlFile, await dumpSchema(client));
    keep(diagramFile, await drawSchema(client));
  } finally {
    await client.end();
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

function generateTypes(url: string): void {
  const options = [
    ['--dialect', 'postgres'],
    ['--url', url],
    ['--out-file', typesFile],
    ['--exclude-pattern', 'public.schema_migrations'],
    ['--type-mapping', JSON.stringify({ int8: 'bigint' })],
  ];
  execFileSync('kysely-codegen', [...options.flat(), ...(check ? ['--verify'] : [])], { stdio: 'inherit' });
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
