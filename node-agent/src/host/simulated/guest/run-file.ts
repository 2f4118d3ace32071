import { join } from 'node:path';
import { readJson } from '../../../durable-file.ts';
import { isOurProcess } from '../hypervisor/hypervisor-file.ts';

/** Written when the guest has power, and again when its SSH server listens. */
export interface RunFile {
  pid: number;
  /** Process 1 of the guest, which ends after all the others; null if the guest is not contained. */
  init_pid: number | null;
  hypervisor_pid: number;
  ssh_port: number | null;
}

export function runFile(guestFolder: string): string {
  return join(guestFolder, 'run.json');
}

export function readRunFile(guestFolder: string): Promise<RunFile | null> {
  return readJson<RunFile>(runFile(guestFolder));
}

export function isGuestAlive(run: RunFile, allocationId: string): boolean {
  return [run.pid, run.init_pid].some((pid) => pid !== null && isOurProcess(pid, allocationId));
}
