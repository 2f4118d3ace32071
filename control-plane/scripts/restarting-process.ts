import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface RestartingProcess {
  /** Ends the process, starts it again and resolves when it is ready. Calls made meanwhile are one more restart. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Whoever waits for a restart does not wait for open connections; the platform survives being killed. */
const GRACE_MS = 700;

/** A child process that is replaced when its sources change; `ready` resolves when it serves. */
export async function startRestartingProcess(
  spec: { args: string[]; env: Record<string, string> },
  ready: (ended: AbortSignal) => Promise<void>,
): Promise<RestartingProcess> {
  let child: ChildProcess;
  let stopped = false;
  let restarting: Promise<void> | null = null;
  let again = false;

  const start = async (): Promise<void> => {
    const ended = new AbortController();
    child = spawn(process.execPath, spec.args, { stdio: 'inherit', env: { ...process.env, ...spec.env } });
    child.once('exit', () => ended.abort());
    await ready(ended.signal);
  };
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const impatient = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await exit;
    clearTimeout(impatient);
  };
  const cycle = async (): Promise<void> => {
    do {
      again = false;
      await end();
      if (!stopped) await start();
    } while (again && !stopped);
  };

  await start();
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
      await end();
    },
  };
}
