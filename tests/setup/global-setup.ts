import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../control-plane/src/platform/db/embedded-postgres.ts';
import { migrate } from '../../control-plane/src/platform/db/migrate.ts';
import {
  runAsAdmin,
  TEMPLATE_DATABASE,
  TEST_POSTGRES_URL_VARIABLE,
} from '../../control-plane/src/platform/db/testing.ts';
import { migrateWorkflows } from '../../control-plane/src/platform/workflows/migrate-workflows.ts';
import { approveImages } from '../harness/approve-images.ts';
import { endAbandonedRuns, RUN_FOLDER } from './end-abandoned-runs.ts';

/** One throwaway Postgres per test run, with the migrated template that test databases are cloned from. */
export async function setup(): Promise<() => Promise<void>> {
  await endAbandonedRuns();
  const dataDir = await mkdtemp(join(tmpdir(), RUN_FOLDER));
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  const teardown = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await runAsAdmin(server.url, `create database ${TEMPLATE_DATABASE}`);
    await migrate(server.urlFor(TEMPLATE_DATABASE));
    await migrateWorkflows(server.urlFor(TEMPLATE_DATABASE));
    await approveImages(server.urlFor(TEMPLATE_DATABASE));
    process.env[TEST_POSTGRES_URL_VARIABLE] = server.url;
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}
