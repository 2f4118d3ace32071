import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';

/**
 * Processes that have one of the block devices open, under any name. The kernel allows a second opener while
 * QEMU uses a disk, so the agent must refuse.
 */
export function processesUsing(root: string, deviceNumbers: readonly number[]): string[] {
  const proc = join(root, 'proc');
  const pids = list(proc).filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => Number(pid) !== process.pid && hasOpen(join(proc, pid, 'fd'), deviceNumbers))
    .map((pid) => `${commandOf(join(proc, pid))} (pid ${pid})`);
}

/** Processes with an open file whose path matches. */
export function processesWithOpenFile(root: string, isMeant: (path: string) => boolean): string[] {
  const proc = join(root, 'proc');
  const pids = list(proc).filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) =>
      list(join(proc, pid, 'fd')).some((name) =>
        isMeant(unlessGone(() => readlinkSync(join(proc, pid, 'fd', name))) ?? ''),
      ),
    )
    .map((pid) => `${commandOf(join(proc, pid))} (pid ${pid})`);
}

function hasOpen(folder: string, deviceNumbers: readonly number[]): boolean {
  return list(folder).some((name) => {
    const path = join(folder, name);
    // Sockets and pipes have no path; a stat of each would cost more than all the rest.
    const leadsTo = unlessGone(() => readlinkSync(path));
    if (!leadsTo?.startsWith('/')) return false;
    const facts = unlessGone(() => statSync(path));
    return facts !== null && facts.isBlockDevice() && deviceNumbers.includes(facts.rdev);
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
  return unlessGone(() => readdirSync(folder)) ?? [];
}

/** Processes come and go during the scan; a permission error is a different matter. */
function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return null;
    const reason = error instanceof Error ? error.message : String(error);
    throw new TaskError('disk_in_use', `cannot determine which processes use the disk: ${reason}`);
  }
}
