import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findBinaries } from './embedded/binaries.ts';
import { locateCluster, openDataDir } from './embedded/cluster-location.ts';
import { connectionUrl } from './embedded/connection.ts';
import { checkCluster, createCluster } from './embedded/create-cluster.ts';
import { classifyDiskFull } from './embedded/classify-disk-full.ts';
import { startCancelled, EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './embedded/errors.ts';
import { readOrCreatePassword } from './embedded/password.ts';
import { findPostmaster } from './embedded/postmaster-file.ts';
import type { Postmaster } from './embedded/postmaster-file.ts';
import { isPostmasterOf } from './embedded/processes.ts';
import { startServer } from './embedded/start-server.ts';
import { stopServer, stopServerImmediately } from './embedded/stop-server.ts';
import { takeSupervisorLock } from './embedded/supervisor-lock.ts';
import { waitUntilReady } from './embedded/wait-until-ready.ts';
import { watchServer } from './embedded/watch-server.ts';

export { EmbeddedPostgresError } from './embedded/errors.ts';
export type { EmbeddedPostgresErrorCode } from './embedded/errors.ts';

/** Failures that a full disk may cause. */
const MAY_BE_DISK = new Set<EmbeddedPostgresErrorCode>(['initdb_failed', 'start_failed', 'not_accessible']);

export type EmbeddedPostgresOptions = {
  /** The platform's data folder; created if missing. */
  dataDir: string;
  log?: (line: string) => void;
  /** Server settings beyond our defaults, such as `fsync: 'off'` in tests. */
  settings?: Record<string, string>;
  /** Cancels the start; it then rejects with `cancelled` and leaves nothing running. */
  signal?: AbortSignal;
  /** Given, a server that dies is started again; called when that cannot be done. */
  onLost?: (error: EmbeddedPostgresError) => void;
};

export type EmbeddedPostgres = {
  /** The superuser's URL of the database `postgres`. */
  url: string;
  urlFor(database: string): string;
  /** True if a server left running by a killed platform process was taken over. */
  adopted: boolean;
  /** Ends the server and waits until it is gone. Safe to repeat. */
  stop(): Promise<void>;
  /** Ends the server without waiting for its sessions; may follow a `stop` that takes too long. */
  stopImmediately(): Promise<void>;
};

/** Starts, or takes over, the Postgres in the platform's data folder. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = await openDataDir(options.dataDir);
  const release = await takeSupervisorLock(dataDir).catch(async (error: unknown) => {
    throw await startFailure(error, dataDir);
  });
  try {
    return await start(dataDir, options, release);
  } catch (error) {
    await release();
    throw await startFailure(error, dataDir);
  }
}

async function startFailure(failure: unknown, dataDir: string): Promise<EmbeddedPostgresError> {
  if (failure instanceof EmbeddedPostgresError && !MAY_BE_DISK.has(failure.code)) return failure;
  const noted = (await readFile(join(dataDir, 'postgres.location'), 'utf8').catch(() => '')).trim();
  const named = await classifyDiskFull(failure, noted ? [dirname(noted), dataDir] : [dataDir]);
  if (named instanceof EmbeddedPostgresError) return named;
  const reason = failure instanceof Error ? failure.message : String(failure);
  return new EmbeddedPostgresError('start_failed', `Postgres did not start: ${reason}`, { cause: failure });
}

async function start(
  dataDir: string,
  { log = () => undefined, settings = {}, signal, onLost }: EmbeddedPostgresOptions,
  release: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  const cluster = await locateCluster(dataDir);
  const binaries = await findBinaries(dataDir, cluster.user);
  const exists = await checkCluster(cluster.folder, binaries.major);
  const password = await readOrCreatePassword(dataDir, exists);
  if (!exists) {
    log(`creating a Postgres ${binaries.major} database in ${cluster.folder}`);
    await createCluster(cluster, binaries, password, { sync: settings['fsync'] !== 'off', signal });
  }

  const orphan = await adopt(cluster.folder, password, signal);
  if (signal?.aborted && !orphan) throw startCancelled();
  const server = { dataDir, cluster, binaries, password, settings, log };
  const postmaster = orphan ?? (await startServer({ ...server, signal }));
  log(`${orphan ? 'took over' : 'started'} Postgres on 127.0.0.1:${postmaster.port} (pid ${postmaster.pid})`);

  const watched = onLost
    ? watchServer({
        first: postmaster,
        folder: cluster.folder,
        restart: (port, ending) => startServer({ ...server, port, signal: ending }),
        log,
        onLost,
      })
    : { postmaster: () => postmaster, end: async () => undefined };
  const stop = async (end: (pid: number, folder: string) => Promise<void>): Promise<void> => {
    await watched.end();
    await end(watched.postmaster().pid, cluster.folder);
    await release();
  };
  let stopped: Promise<void> | undefined;
  return {
    url: connectionUrl(postmaster.port, password, 'postgres'),
    urlFor: (database) => connectionUrl(postmaster.port, password, database),
    adopted: orphan !== undefined,
    stop: () => (stopped ??= stop(stopServer)),
    stopImmediately: () => stop(stopServerImmediately),
  };
}

/** A server that was already shutting down ends while we wait; then there is nothing to adopt. */
async function adopt(
  folder: string,
  password: string,
  signal: AbortSignal | undefined,
): Promise<Postmaster | undefined> {
  const found = await findPostmaster(folder);
  if (!found) return undefined;
  const outcome = await waitUntilReady(
    connectionUrl(found.port, password, 'postgres'),
    () => isPostmasterOf(found.pid, folder),
    signal,
  );
  if (outcome === 'cancelled') {
    await stopServerImmediately(found.pid, folder);
    throw startCancelled();
  }
  if (outcome === 'ready') return found;
  if (outcome === 'exited') return undefined;
  throw new EmbeddedPostgresError(
    'start_failed',
    `A Postgres for ${folder} is already running (pid ${found.pid}) but does not let us in. Stop it and start again.`,
  );
}
