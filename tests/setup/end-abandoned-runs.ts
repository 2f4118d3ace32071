import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateCluster } from '../../control-plane/src/platform/db/embedded/cluster-location.ts';
import { EmbeddedPostgresError } from '../../control-plane/src/platform/db/embedded/errors.ts';
import { findPostmaster } from '../../control-plane/src/platform/db/embedded/postmaster-file.ts';
import { stopServerImmediately } from '../../control-plane/src/platform/db/embedded/stop-server.ts';
import { takeSupervisorLock } from '../../control-plane/src/platform/db/embedded/supervisor-lock.ts';

/** The data folder of a test run; `mkdtemp` adds six characters to it. */
export const RUN_FOLDER = 'gpuaas-test-';
const A_RUN = new RegExp(`^${RUN_FOLDER}\\w{6}$`);

/** A run that was killed leaves its Postgres and its folder behind; the next one ends both. Those that run are left alone. */
export async function endAbandonedRuns(root: string = tmpdir()): Promise<void> {
  const runs = (await readdir(root)).filter((name) => A_RUN.test(name)).map((name) => join(root, name));
  for (const dataDir of runs) if (await wasBegun(dataDir)) await endIfAbandoned(dataDir);
}

/** A folder without a lock may be of a run that begins or ends just now, or of another user. */
async function wasBegun(dataDir: string): Promise<boolean> {
  const folder = await stat(dataDir).catch(() => null);
  if (!folder || folder.uid !== process.getuid?.()) return false;
  return (await readFile(join(dataDir, 'postgres.supervisor'), 'utf8').catch(() => '')) !== '';
}

async function endIfAbandoned(dataDir: string): Promise<void> {
  try {
    const release = await takeSupervisorLock(dataDir);
    const { folder } = await locateCluster(dataDir);
    const postmaster = await findPostmaster(folder);
    if (postmaster) await stopServerImmediately(postmaster.pid, folder);
    await release();
    await rm(folder, { recursive: true, force: true });
    await rm(dataDir, { recursive: true, force: true });
  } catch (error) {
    // It is in use, or it does not end: no reason for this run not to start.
    if (!(error instanceof EmbeddedPostgresError)) throw error;
  }
}
