import { join } from 'node:path';
import { readJson } from '../../../durable-file.ts';
import { isProcess } from '../hypervisor/hypervisor-file.ts';

/** Written when the guest has power, and again when its SSH listens. */
export interface RunFile {
  pid: number;
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
  return isProcess(run.pid, allocationId);
}
