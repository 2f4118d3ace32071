/** Types of the schema, read from a migrated throw-away database. `--check` fails on drift instead of writing. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';

const outFile = fileURLToPath(new URL('../src/platform/db/generated/schema.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-types-'));
const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
try {
  await migrate(postgres.url);
  const options = [
    ['--dialect', 'postgres'],
    ['--url', postgres.url],
    ['--out-file', outFile],
    ['--exclude-pattern', 'public.schema_migrations'],
    ['--type-mapping', JSON.stringify({ int8: 'bigint' })],
  ];
  const check = process.argv.includes('--check') ? ['--verify'] : [];
  execFileSync('kysely-codegen', [...options.flat(), ...check], { stdio: 'inherit' });
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
