import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface DebianPrograms {
  folder: string;
  env: NodeJS.ProcessEnv;
}

/** Unpacks Debian packages into a folder; nothing is installed. Libraries that a program needs are named, too. */
export function unpackPrograms(packages: readonly string[]): DebianPrograms {
  const folder = mkdtempSync(join(tmpdir(), 'gpuaas-bench-programs-'));
  run('apt-get', ['download', ...packages], folder);
  for (const file of readdirSync(folder)) run('dpkg-deb', ['-x', file, '.'], folder);
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  const path = `${join(folder, 'usr/sbin')}:${join(folder, 'usr/bin')}:${process.env['PATH']}`;
  return { folder, env: { ...process.env, PATH: path, LD_LIBRARY_PATH: libraries } };
}

function run(command: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
