import { spawn } from 'node:child_process';
import type { Session } from '../session.ts';
import type { SshLogin } from './ssh-login.ts';

/** Runs `ssh` or `scp` on this terminal, with the machine's login; resolves with its exit code. */
export async function runOpenSsh(
  program: 'ssh' | 'scp',
  login: SshLogin,
  args: string[],
  credential: Session['credential'],
): Promise<number> {
  const options = login.options.flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  // Not on a command line, which every user of the machine can read.
  const env = 'apiKey' in credential ? { ...process.env, GPUAAS_API_KEY: credential.apiKey } : process.env;
  const child = spawn(program, [...options, ...args], { stdio: 'inherit', env });
  // The terminal sends Ctrl-C to both processes; only the remote program should get it.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ENOENT'
            ? new Error(
                `${program} is not installed; it comes with OpenSSH (Debian, Ubuntu: openssh-client).`,
              )
            : error,
        ),
      );
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}
