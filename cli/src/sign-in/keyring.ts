import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The operating system's store for a person's secrets. */
export interface Keyring {
  read(account: string): Promise<string | null>;
  write(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

const SERVICE = 'gpuaas';
/** Long enough to type the password that unlocks it. */
const DEADLINE_MS = 60_000;

/** The keyring of this machine through its command, or null without one. `GPUAAS_KEYRING=off` disables it. */
export function systemKeyring(env: NodeJS.ProcessEnv = process.env): Keyring | null {
  if (env['GPUAAS_KEYRING'] === 'off') return null;
  if (process.platform === 'darwin') return macKeychain;
  return process.platform === 'linux' && hasSessionBus(env) ? secretService : null;
}

/** Without a session bus there is no keyring, and a call would only time out. */
function hasSessionBus(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['DBUS_SESSION_BUS_ADDRESS']) || existsSync(`/run/user/${process.getuid?.()}/bus`);
}

const secretService: Keyring = {
  async read(account) {
    const { code, stdout } = await run('secret-tool', ['lookup', ...attributes(account)]);
    return code === 0 && stdout !== '' ? stdout : null;
  },
  async write(account, secret) {
    const args = ['store', '--label', `gpuaas at ${account}`, ...attributes(account)];
    succeeded(await run('secret-tool', args, secret));
  },
  async remove(account) {
    await run('secret-tool', ['clear', ...attributes(account)]);
  },
};

function attributes(account: string): string[] {
  return ['service', SERVICE, 'account', account];
}

const macKeychain: Keyring = {
  async read(account) {
    const { code, stdout } = await run('security', [
      'find-generic-password',
      '-s',
      SERVICE,
      '-a',
      account,
      '-w',
    ]);
    return code === 0 ? Buffer.from(stdout.trim(), 'base64').toString('utf8') : null;
  },
  /** Through standard input: every user of the machine can read arguments. */
  async write(account, secret) {
    const encoded = Buffer.from(secret, 'utf8').toString('base64');
    const words = ['add-generic-password', '-U', '-s', SERVICE, '-a', quoted(account), '-w', encoded];
    succeeded(await run('security', ['-i'], `${words.join(' ')}\n`));
  },
  async remove(account) {
    await run('security', ['delete-generic-password', '-s', SERVICE, '-a', account]);
  },
};

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function succeeded({ code, stderr }: Ended): void {
  if (code !== 0) throw new Error(`the keyring refused: ${stderr.trim() || `exit code ${code}`}`);
}

/** A missing command counts as one that failed. */
function run(command: string, args: string[], input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { timeout: DEADLINE_MS });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (ended.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (ended.stderr += chunk.toString()));
    child.on('error', (error) => resolve({ ...ended, stderr: error.message }));
    child.on('close', (code) => resolve({ ...ended, code }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
