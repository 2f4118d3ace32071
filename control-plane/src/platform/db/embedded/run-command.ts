import { spawn } from 'node:child_process';
import type { ServiceUser } from './service-user.ts';

/** Nothing is inherited: PGDATA, PGPORT or LD_LIBRARY_PATH of the caller would misdirect the server. */
export const COMMAND_ENVIRONMENT: Record<string, string> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Runs a program to its end as `user` and returns its exit code and output; `signal` asks it to end. */
export function runCommand(
  program: string,
  args: string[],
  user: ServiceUser | undefined,
  signal?: AbortSignal,
): Promise<{ exitCode: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // cwd '/': the service user may have no access to the caller's folder.
    const child = spawn(program, args, {
      ...user,
      cwd: '/',
      env: COMMAND_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const end = (): void => void child.kill('SIGTERM');
    signal?.addEventListener('abort', end, { once: true });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      signal?.removeEventListener('abort', end);
      resolve({ exitCode, output });
    });
  });
}
