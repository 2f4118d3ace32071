import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import {
  GuestError,
  type GuestFailure,
} from '@gpuaas/control-plane/domains/apps/executors/allocation/guest-error';
import type { Guest } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest';
import { describe, it } from 'vitest';
import { testMemberRunner } from './member-runner-suite.ts';
import type { RunnerPlace } from './runner-place.ts';

export interface LocalPlaceOptions {
  /** The shell, and with busybox all tools. */
  shell: 'dash' | 'bash' | 'busybox';
  /** Root becomes this user; anyone else stays who they are. */
  uid?: number;
}

/** The suite in plain shells of this machine. */
export function inShell(name: string, options: LocalPlaceOptions): void {
  const file = `/usr/bin/${options.shell}`;
  if (process.platform === 'linux' && existsSync(file))
    testMemberRunner(name, () => Promise.resolve(openLocalPlace(options)));
  else describe(`the member runner ${name}`, () => it.skip(`needs ${file} on Linux`));
}

/** A home folder on this machine, entered by plain shells. As root it has its own small disk. */
function openLocalPlace({ shell, uid: wanted }: LocalPlaceOptions): RunnerPlace {
  const folder = mkdtempSync(join(tmpdir(), 'gpuaas-runner-'));
  chmodSync(folder, 0o755);
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')];
  for (const path of [home, bin]) mkdirSync(path, { mode: 0o755 });
  const small = process.getuid?.() === 0;
  const uid = small ? wanted : undefined;
  if (small) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0755', 'gpuaas-runner', home]);
  if (uid !== undefined) chownSync(home, uid, uid);
  linkTools(bin, shell);
  const enter =
    uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
  const env = { HOME: home, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` };

  const guest: Guest = {
    run: ({ command, stdin, maxBytes, deadlineMs }) =>
      new Promise((resolve, reject) => {
        const words = [...enter, join(bin, 'sh'), '-c', command];
        const child = spawn('/usr/bin/env', words, { cwd: '/', env, stdio: ['pipe', 'pipe', 'ignore'] });
        const chunks: Buffer[] = [];
        let length = 0;
        const fail = (reason: GuestFailure, message: string): void => {
          clearTimeout(timer);
          child.stdout.destroy();
          child.kill('SIGKILL');
          reject(new GuestError(reason, message));
        };
        const timer = setTimeout(() => fail('node_lost', 'no answer in time'), deadlineMs);
        child.stdout.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > maxBytes) fail('access_lost', 'too much output');
        });
        child.stdin.on('error', () => undefined);
        if (stdin instanceof Readable) stdin.pipe(child.stdin);
        else child.stdin.end(stdin ?? '');
        child.on('close', () => {
          clearTimeout(timer);
          resolve(Buffer.concat(chunks));
        });
      }),
    listen: () => Promise.reject(new GuestError('executor_error', 'plain shells carry no ports')),
    ended: new Promise(() => undefined),
    now: () => new Date(),
    close: () => undefined,
  };

  return {
    enter: () => Promise.resolve(guest),
    listen: (port) => ['node', '-e', `require('net').createServer().listen(${port}, '127.0.0.1')`],
    disk: small ? { fill: 'cat /dev/zero > ~/full', free: 'rm -f ~/full' } : null,
    async close() {
      if (small) execFileSync('umount', ['--lazy', home]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function linkTools(bin: string, shell: LocalPlaceOptions['shell']): void {
  if (shell !== 'busybox') return symlinkSync(`/usr/bin/${shell}`, join(bin, 'sh'));
  const busybox = '/bin/busybox';
  for (const applet of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n'))
    if (applet !== '' && applet !== 'busybox') symlinkSync(busybox, join(bin, applet));
}
