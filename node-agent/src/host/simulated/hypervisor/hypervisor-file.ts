import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, readJson } from '../../../durable-file.ts';

/** How the hypervisor of a simulated host is found by whoever may read the host's folder. */
export interface HypervisorFile {
  pid: number;
  /** On the loopback; the secret keeps other users of the machine out. */
  port: number;
  secret: string;
}

export function hypervisorFile(dir: string): string {
  return join(dir, 'hypervisor.json');
}

export async function findHypervisor(dir: string): Promise<HypervisorFile | null> {
  const found = await readJson<HypervisorFile>(hypervisorFile(dir));
  return found && isProcess(found.pid, dir) ? found : null;
}

/** A pid alone may have been given to somebody else since; ours carry what they are for on their command line. */
export function isProcess(pid: number, purpose: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(purpose);
  } catch {
    return process.platform !== 'linux';
  }
}
