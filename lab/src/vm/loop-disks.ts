import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Block devices out of files. The kernel takes them back by itself when their last holder is gone. */
export interface LoopDisk {
  /** Such as `/dev/loop3`. */
  node: string;
  /** `major:minor`. */
  number: string;
  sizeBytes: number;
  /** Keeps the device alive; to be handed to the holder and closed here. */
  fd: number;
}

export const LAB_FOLDER = 'gpuaas-vm-lab-';

export function attachLoopDisk(file: string, sizeBytes: number): LoopDisk {
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  const node = losetup('--find', '--show', file).trim();
  const fd = openSync(node, 'r');
  // Detached while it is open: it goes with the last one that has it open, however that one ends.
  losetup('--detach', node);
  const name = node.replace('/dev/', '');
  return { node, number: readFileSync(`/sys/block/${name}/dev`, 'utf8').trim(), sizeBytes, fd };
}

export function letGo(disk: LoopDisk): void {
  closeSync(disk.fd);
}

/** What labs that were killed left behind: a device without a holder, a folder whose owner is gone. */
export function removeDeadLabs(): void {
  const { loopdevices } = JSON.parse(losetup('--list', '--json') || '{"loopdevices":[]}') as {
    loopdevices: { name: string; 'back-file': string | null }[];
  };
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(LAB_FOLDER));
  for (const folder of folders.map((name) => join(tmpdir(), name)).filter(isDead)) {
    for (const { name, 'back-file': file } of loopdevices) {
      if (file?.startsWith(`${folder}/`)) losetup('--detach', name);
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

export function claimFolder(folder: string): void {
  writeFileSync(join(folder, 'owner'), `${process.pid} ${startTime(process.pid)}\n`);
}

function isDead(folder: string): boolean {
  try {
    const [pid, start] = readFileSync(join(folder, 'owner'), 'utf8').trim().split(' ');
    // Whoever is about to write it lives.
    return start !== undefined && startTime(Number(pid)) !== start;
  } catch {
    return false;
  }
}

/** With the pid it names one process for ever. Empty when there is none. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function losetup(...args: string[]): string {
  return execFileSync('losetup', args, { encoding: 'utf8', timeout: 30_000 });
}
