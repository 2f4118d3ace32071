import { openDatabase } from '../platform/db/database.ts';
import { createMonthPartitions } from '../platform/db/month-partitions.ts';
import { migrate } from '../platform/db/migrate.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { migrateWorkflows } from '../platform/workflows/migrate-workflows.ts';
import { ConfigError, readConfig } from './config.ts';
import { isEntryPoint, runRole } from './entry-point.ts';

/** Prepares a database for this release. Safe to run again, and from many processes in parallel. */
export async function prepareDatabase(databaseUrl: string, log: (line: string) => void): Promise<void> {
  await migrate(databaseUrl, log);
  await migrateWorkflows(databaseUrl);
  const database = openDatabase(databaseUrl, { max: 1 });
  try {
    await createMonthPartitions(database.db);
  } finally {
    await database.close();
  }
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async () => {
    const { databaseUrl } = readConfig();
    if (!databaseUrl) throw new ConfigError('DATABASE_URL must name the database of the platform');
    const log = createLogger('migrate');
    await prepareDatabase(databaseUrl, (line) => log.info(line));
    log.info('the database is ready for this release');
  });
}
