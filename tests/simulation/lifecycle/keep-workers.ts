import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('lifecycle-worker.ts', import.meta.url));

export interface Workers {
  killed(): number;
  /** Kills one of them at any point. */
  killOne(): void;
  stop(): Promise<void>;
}

/** A number of workers; one that dies is replaced. */
export function keepWorkers(count: number, env: Record<string, string>): Workers {
  const running = new Set<ChildProcess>();
  let stopping = false;
  let killed = 0;
  const spawnOne = (): void => {
    const child = spawn(process.execPath, ['--disable-warning=DeprecationWarning', MAIN], {
      env: { ...process.env, GPUAAS_LOG_LEVEL: process.env['GPUAAS_TEST_LOG'] ?? 'fatal', ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    running.add(child);
    child.once('exit', () => {
      running.delete(child);
      if (stopping) return;
      if (child.signalCode === 'SIGKILL') killed += 1;
      spawnOne();
    });
  };
  for (let index = 0; index < count; index += 1) spawnOne();
  return {
    killed: () => killed,
    killOne: () => void [...running][0]?.kill('SIGKILL'),
    async stop() {
      stopping = true;
      await Promise.all(
        [...running].map(async (child) => {
          const gone = once(child, 'exit');
          child.kill('SIGKILL');
          await gone;
        }),
      );
    },
  };
}
