import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Block devices backed by files. The kernel removes them when their last holder is gone. */
export interface LoopDisk {
  /** Such as `/dev/loop3`. */
  node: string;
  /** `major:minor`. */
  number: string;
  sizeBytes: number;
  /** Keeps the device alive; pass it to the holder and close it here. */
  fd: number;
}

export const LAB_FOLDER = 'gpuaas-vm-lab-';

export function attachLoopDisk(file: string, sizeBytes: number): LoopDisk {
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  const node = losetup('--find', '--show', file).trim();
  const fd = openSync(node, 'r');
  // Detached while open: it goes with its last holder, however that one ends.
  losetup('--detach', node);
  const name = node.replace('/dev/', '');
  return { node, number: readFileSync(`/sys/block/${name}/dev`, 'utf8').trim(), sizeBytes, fd };
}

export function detachLoopDisk(disk: LoopDisk): void {
  closeSync(disk.fd);
}

/** Removes leftovers of killed labs: a device without a holder, a folder without an owner. */
export function removeStaleLabs(): void {
  const {
    loopdevices,
  }: {
    loopdevices: { name: string; 'back-file': string | null }[];
  } = JSON.parse(losetup('--list', '--json') || '{"loopdevices":[]}');
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
    // A process that has not written it yet is alive.
    return start !== undefined && startTime(Number(pid)) !== start;
  } catch {
    return false;
  }
}

/** With the pid it identifies one process permanently. Empty when there is none. */
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
