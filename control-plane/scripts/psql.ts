/** `npm run db:psql`: a shell on the platform's database, running or not. Arguments after `--` go to psql. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { locateCluster } from '../src/platform/db/embedded/cluster-location.ts';
import { connectionUrl } from '../src/platform/db/embedded/connection.ts';
import { readOrCreatePassword } from '../src/platform/db/embedded/password.ts';
import { findPostmaster } from '../src/platform/db/embedded/postmaster-file.ts';
import { readConfig } from '../src/roles/config.ts';

const { databaseUrl, dataDir } = readConfig([]);
if (databaseUrl) await psql(databaseUrl);
else if (!existsSync(join(dataDir, 'postgres.password'))) {
  fail(`There is no database in ${dataDir} yet; npm start makes one. DATABASE_URL names another server.`);
} else {
  const running = await runningUrl();
  if (running) await psql(running);
  else {
    const postgres = await startEmbeddedPostgres({ dataDir });
    try {
      await psql(postgres.url);
    } finally {
      await postgres.stop();
    }
  }
}

async function runningUrl(): Promise<string | null> {
  const { folder } = await locateCluster(dataDir);
  const postmaster = await findPostmaster(folder);
  return postmaster
    ? connectionUrl(postmaster.port, await readOrCreatePassword(dataDir, true), 'postgres')
    : null;
}

/** The embedded package has the server only, so the client comes from the system. */
async function psql(url: string): Promise<void> {
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  // On the command line every user of the machine could read it.
  address.password = '';
  // Ctrl-C belongs to psql, which cancels the query.
  process.on('SIGINT', () => undefined);
  const child = spawn('psql', [address.href, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, ...(password ? { PGPASSWORD: password } : {}) },
  });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } catch {
    fail('psql is not installed. On Debian: apt-get install postgresql-client');
  }
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
