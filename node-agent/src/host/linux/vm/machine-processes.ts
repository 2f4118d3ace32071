import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allocationIdOf } from './domain.ts';

export interface MachineProcess {
  allocation_id: string;
  pid: number;
  /** Since boot, in ticks: with the pid it names one start of a process. */
  startTicks: number;
}

/**
 * The QEMU processes of our machines as the kernel lists them. They outlive libvirtd, so the heartbeat reads
 * them here and does not report a machine as gone because a daemon is.
 */
export function machineProcesses(): MachineProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const allocation_id = guestOf(read(join('/proc', name, 'cmdline')));
    const stat = read(join('/proc', name, 'stat'));
    if (allocation_id === null || stat === '') return [];
    // The command in brackets may contain blanks; state is the first field after it, the start time the
    // twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return [];
    return [{ allocation_id, pid: Number(name), startTicks: Number(fields[19]) }];
  });
}

function guestOf(commandLine: string): string | null {
  const words = commandLine.split('\0');
  if (!/qemu/.test(words[0] ?? '')) return null;
  const name = words[words.indexOf('-name') + 1] ?? '';
  return allocationIdOf(/^guest=([^,]+)/.exec(name)?.[1] ?? '');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
