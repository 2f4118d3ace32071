import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import type { ClusterLocation } from './cluster-location.ts';
import { connectionUrl, findFreePort } from './connection.ts';
import { spawnFailure } from './create-cluster.ts';
import { startCancelled, EmbeddedPostgresError } from './errors.ts';
import { removeStaleLock } from './postmaster-file.ts';
import type { Postmaster } from './postmaster-file.ts';
import { COMMAND_ENVIRONMENT } from './run-command.ts';
import { lastLogLines, openServerLog } from './server-log.ts';
import { serverArguments } from './server-arguments.ts';
import { stopServer, stopServerImmediately } from './stop-server.ts';
import { waitUntilReady } from './wait-until-ready.ts';
import { deadlineAfter } from '../../clock.ts';

export type StartServerOptions = {
  dataDir: string;
  cluster: ClusterLocation;
  binaries: Binaries;
  password: string;
  settings: Record<string, string>;
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** The port that clients know from an earlier start; a free one when left out. */
  port?: number;
};

/** Backends of a killed postmaster need a moment to notice; until then a start is refused. */
const LEFTOVER_PATIENCE_MS = 15_000;
const PORT_ATTEMPTS = 5;

/** Starts the server; retries if a port was lost in a race or an old backend is still exiting. */
export async function startServer(options: StartServerOptions): Promise<Postmaster> {
  const deadline = deadlineAfter(LEFTOVER_PATIENCE_MS);
  for (let lostPorts = 0; ;) {
    if (await removeStaleLock(options.cluster.folder)) options.log('removed a stale Postgres lock file');
    const attempt = await startOnce(options);
    if (attempt.ok) return attempt.postmaster;
    const portLost = /could not bind|Address already in use|could not create any TCP\/IP sockets/.test(
      attempt.said,
    );
    const stillLocked = /lock file .* already exists|pre-existing shared memory block/.test(attempt.said);
    if (portLost && options.port === undefined && ++lostPorts < PORT_ATTEMPTS) continue;
    if ((stillLocked || portLost) && !deadline.passed()) {
      await sleep(300);
      continue;
    }
    throw new EmbeddedPostgresError('start_failed', `Postgres did not start. It said:\n${attempt.said}`);
  }
}

type Attempt = { ok: true; postmaster: Postmaster } | { ok: false; said: string };

async function startOnce(options: StartServerOptions): Promise<Attempt> {
  const { cluster, binaries, password } = options;
  const port = options.port ?? (await findFreePort());
  const serverLog = await openServerLog(options.dataDir);
  try {
    // Detached: Ctrl-C in a terminal signals the whole group, and the database must stop last.
    const child = spawn(binaries.postgres, serverArguments(cluster.folder, port, options.settings), {
      ...cluster.user,
      cwd: '/',
      env: COMMAND_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', serverLog.file.fd, serverLog.file.fd],
    });
    const pid = await spawned(child, binaries.postgres);
    child.unref();
    const url = connectionUrl(port, password, 'postgres');
    const outcome = await waitUntilReady(url, () => !hasExited(child), options.signal);
    if (outcome === 'ready') return { ok: true, postmaster: { pid, port } };
    if (outcome === 'cancelled') {
      await stopServerImmediately(pid, cluster.folder);
      throw startCancelled();
    }
    await stopServer(pid, cluster.folder);
    const said = await lastLogLines(serverLog);
    return { ok: false, said: outcome === 'timed_out' ? `${said}\n(gave up waiting for it)` : said };
  } finally {
    await serverLog.file.close();
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function spawned(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new EmbeddedPostgresError(...spawnFailure(program, cause))));
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}
