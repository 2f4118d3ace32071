import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The package of Debian's cloud kernel, in a folder that is kept between runs. Without package lists the
 * cached one is used; on a machine that has neither, the lists are fetched first.
 */
export function fetchKernel(cache: string): string {
  mkdirSync(cache, { recursive: true });
  const name = kernelOfToday();
  return newestIn(cache, name ? `${name}_` : 'linux-image-') ?? download(cache);
}

function newestIn(cache: string, name: string): string | undefined {
  const files = readdirSync(cache).filter((file) => file.startsWith(name) && file.endsWith('.deb'));
  const newest = files.toSorted().at(-1);
  return newest && join(cache, newest);
}

/** Into a separate folder: concurrent runs must not find half of the package. */
function download(cache: string): string {
  const folder = mkdtempSync(join(cache, 'download-'));
  try {
    if (!kernelOfToday()) run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', 'update']);
    const name = kernelOfToday();
    if (!name) throw new Error('this Debian has no linux-image-cloud-amd64');
    run('apt-get', ['-qq', 'download', name], folder);
    const [file] = readdirSync(folder);
    if (!file) throw new Error(`apt-get downloaded no ${name}`);
    renameSync(join(folder, file), join(cache, file));
    return join(cache, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function kernelOfToday(): string | undefined {
  try {
    const depends = run('apt-cache', ['depends', 'linux-image-cloud-amd64']);
    return /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  } catch {
    return undefined;
  }
}

function run(tool: string, args: readonly string[], cwd = '/'): string {
  return execFileSync(tool, [...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  });
}
