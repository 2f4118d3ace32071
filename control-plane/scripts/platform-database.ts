import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { locateCluster } from '../src/platform/db/embedded/cluster-location.ts';
import { connectionUrl } from '../src/platform/db/embedded/connection.ts';
import { readOrCreatePassword } from '../src/platform/db/embedded/password.ts';
import { findPostmaster } from '../src/platform/db/embedded/postmaster-file.ts';
import { readConfig } from '../src/roles/config.ts';

/**
 * Works with the platform's database, whether the platform runs or not: an embedded server that does not is started
 * for as long as the work takes. Ends the process with a message where there is no database.
 */
export async function withPlatformDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = readConfig([]);
  if (databaseUrl) return await work(databaseUrl);
  if (!existsSync(join(dataDir, 'postgres.password'))) {
    console.error(
      `There is no database in ${dataDir} yet; npm start makes one. DATABASE_URL names another server.`,
    );
    process.exit(1);
  }
  const running = await runningUrl(dataDir);
  if (running) return await work(running);
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    return await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

async function runningUrl(dataDir: string): Promise<string | null> {
  const { folder } = await locateCluster(dataDir);
  const postmaster = await findPostmaster(folder);
  return postmaster
    ? connectionUrl(postmaster.port, await readOrCreatePassword(dataDir, true), 'postgres')
    : null;
}
