import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, readJson } from '../../../durable-file.ts';

/** Address of a simulated host's hypervisor, for processes that may read the host's folder. */
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
  return found && isOurProcess(found.pid, dir) ? found : null;
}

/** A pid may have been reused by another process; our processes carry their purpose on the command line. */
export function isOurProcess(pid: number, purpose: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
  try {
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    // A process that is ending has lost its command line, but is not gone yet.
    if (commandLine === '') return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return commandLine.includes(purpose);
  } catch {
    return process.platform !== 'linux';
  }
}
