import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, readJson } from '../../../durable-file.ts';

/** Written by the guest: first its pid, then the port when SSH listens. */
export interface RunFile {
  pid: number;
  ssh_port: number | null;
}

export function runFile(guestFolder: string): string {
  return join(guestFolder, 'run.json');
}

export function readRunFile(guestFolder: string): Promise<RunFile | null> {
  return readJson<RunFile>(runFile(guestFolder));
}

/** A pid alone may have been given to somebody else since; the guest carries its allocation on its command line. */
export function isGuestAlive(run: RunFile, allocationId: string): boolean {
  try {
    process.kill(run.pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
  try {
    return readFileSync(`/proc/${run.pid}/cmdline`, 'utf8').includes(allocationId);
  } catch {
    return process.platform !== 'linux';
  }
}
