import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Processes that have the block device open, by any name of it. The kernel lets a second opener in while QEMU uses a
 * disk, so nobody but us can refuse.
 */
export function processesUsing(root: string, deviceNumber: number): string[] {
  const proc = join(root, 'proc');
  const pids = list(proc).filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => Number(pid) !== process.pid && hasOpen(join(proc, pid, 'fd'), deviceNumber))
    .map((pid) => `${commandOf(join(proc, pid))} (pid ${pid})`);
}

function hasOpen(folder: string, deviceNumber: number): boolean {
  return list(folder).some((name) => {
    try {
      // Sockets and pipes have no path; a look at each would cost more than all the rest.
      if (!readlinkSync(join(folder, name)).startsWith('/')) return false;
      const facts = statSync(join(folder, name));
      return facts.isBlockDevice() && facts.rdev === deviceNumber;
    } catch {
      return false;
    }
  });
}

function commandOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'comm'), 'utf8').trim();
  } catch {
    return 'a process';
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
