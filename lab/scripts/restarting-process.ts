import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface RestartingProcess {
  /**
   * Ends the process, starts it again and resolves when it is ready. Calls made meanwhile share one more
   * restart.
   */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A restart does not wait for open connections; the platform survives being killed. */
const GRACE_MS = 700;

/**
 * A child process that is replaced when its sources change; `ready` resolves when it serves. The next one
 * already waits with its dependencies loaded: on `load` it reads our sources while the old one ends, and
 * answers `loaded`; on `go` it runs.
 */
export async function startRestartingProcess(
  spec: { args: string[]; env: Record<string, string> },
  ready: (ended: AbortSignal) => Promise<void>,
): Promise<RestartingProcess> {
  let child: ChildProcess | null = null;
  let next: ChildProcess | null = null;
  let stopped = false;
  let restarting: Promise<void> | null = null;
  let again = false;

  const prepare = (): ChildProcess => {
    const prepared = spawn(process.execPath, spec.args, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...spec.env },
    });
    // The exit shows that a child has ended; messages that could not reach it no longer matter.
    prepared.on('error', () => undefined);
    return prepared;
  };
  const replace = async (): Promise<void> => {
    const fresh = next && !hasEnded(next) ? next : prepare();
    next = null;
    const ended = new AbortController();
    fresh.once('exit', () => ended.abort());
    const loaded = saidLoaded(fresh, ended.signal);
    fresh.send('load');
    await Promise.all([loaded, child ? end(child) : null]);
    child = fresh;
    if (stopped) return;
    fresh.send('go');
    await ready(ended.signal);
    next = prepare();
  };
  const cycle = async (): Promise<void> => {
    do {
      again = false;
      await replace();
    } while (again && !stopped);
  };

  await replace();
  return {
    restart() {
      again = restarting !== null;
      restarting ??= cycle().finally(() => {
        restarting = null;
      });
      return restarting;
    },
    async stop() {
      stopped = true;
      await restarting?.catch(() => undefined);
      for (const each of [next, child]) if (each) await end(each);
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Also resolves when it ends without a word; `ready` then says so. */
async function saidLoaded(child: ChildProcess, ended: AbortSignal): Promise<void> {
  await once(child, 'message', { signal: ended }).catch(() => undefined);
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const impatient = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await exit;
  clearTimeout(impatient);
}
