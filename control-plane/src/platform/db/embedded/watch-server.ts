import { setTimeout as sleep } from 'node:timers/promises';
import { deadlineAfter } from '../../clock.ts';
import { endLeftovers } from './end-leftovers.ts';
import { EmbeddedPostgresError } from './errors.ts';
import type { Postmaster } from './postmaster-file.ts';
import { isPostmasterOf } from './processes.ts';

const LOOK_EVERY_MS = 500;
/** A server that dies this often in this time does not die by accident. */
const MAX_RESTARTS = 5;
const RESTARTS_WITHIN_MS = 10 * 60_000;

export interface WatchedServer {
  /** The server as it runs now. */
  postmaster(): Postmaster;
  /** Ends the watch; a restart under way is called off. */
  end(): Promise<void>;
}

/** Starts a server again that dies while it is watched, on the port that clients know; says so when that fails. */
export function watchServer(options: {
  first: Postmaster;
  folder: string;
  restart: (port: number, signal: AbortSignal) => Promise<Postmaster>;
  log: (line: string) => void;
  onLost: (error: EmbeddedPostgresError) => void;
}): WatchedServer {
  const { folder, restart, log, onLost } = options;
  const ending = new AbortController();
  const { signal } = ending;
  let current = options.first;
  const restarts: { passed(): boolean }[] = [];

  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || (await isPostmasterOf(current.pid, folder))) continue;
      log(`Postgres (pid ${current.pid}) has died`);
      if (restarts.filter((restarted) => !restarted.passed()).length >= MAX_RESTARTS)
        throw new Error(`it died ${MAX_RESTARTS + 1} times in ${RESTARTS_WITHIN_MS / 60_000} minutes`);
      restarts.push(deadlineAfter(RESTARTS_WITHIN_MS));
      await endLeftovers(folder);
      current = await restart(current.port, signal);
      log(`started Postgres again on 127.0.0.1:${current.port} (pid ${current.pid})`);
    }
  };
  const watched = watch().catch((error: unknown) => {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    onLost(
      new EmbeddedPostgresError('died', `Postgres has died and cannot be started again: ${reason}`, {
        cause: error,
      }),
    );
  });
  return {
    postmaster: () => current,
    async end() {
      ending.abort();
      await watched;
    },
  };
}
