import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The package of Debian's cloud kernel, in a folder that is kept between runs. */
export function fetchKernel(cache: string): string {
  const depends = run('apt-cache', ['depends', 'linux-image-cloud-amd64']);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (!name) throw new Error('this Debian has no linux-image-cloud-amd64');
  const have = (): string | undefined =>
    readdirSync(cache).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (!have()) run('apt-get', ['-qq', 'download', name], cache);
  return join(cache, have() ?? '');
}

function run(tool: string, args: readonly string[], cwd = '/'): string {
  return execFileSync(tool, [...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  });
}
