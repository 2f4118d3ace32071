import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isErrno } from '../../../durable-file.ts';
import { errorMessage } from '../../../logger.ts';

/** Bounds all processes and temporary files of a guest together. */
export const GUEST_MEMORY_BYTES = 4 * 1024 ** 3;

const REMOVALS = 40;
const REMOVE_AGAIN_MS = 50;

export interface MemoryLimit {
  /** Null if only each process is bounded. */
  cgroup: string | null;
  /** For the guest's console. */
  stated: string;
}

interface Hierarchy {
  folder: string;
  limitFile: 'memory.max' | 'memory.limit_in_bytes';
}

/** Only root can make control groups; without one the guest runs with the limits of its processes. */
export function limitMemory(hostFolder: string, allocationId: string): MemoryLimit {
  const each = 'Memory: 2 GiB for each process';
  if (process.getuid?.() !== 0) return { cgroup: null, stated: `${each}, because the agent is not root` };
  try {
    const { folder, limitFile } = findHierarchy();
    const cgroup = join(folder, `${prefix(hostFolder)}${allocationId}`);
    mkdirSync(cgroup, { recursive: true });
    writeFileSync(join(cgroup, limitFile), String(GUEST_MEMORY_BYTES));
    return { cgroup, stated: 'Memory: 4 GiB for all processes together, 2 GiB for each' };
  } catch (error) {
    return { cgroup: null, stated: `${each}; no control group: ${errorMessage(error)}` };
  }
}

/** After the last process of the guest. The kernel still counts one that has just ended for a moment. */
export async function removeMemoryLimit(cgroup: string | null): Promise<void> {
  if (cgroup === null) return;
  for (let attempt = 0; attempt < REMOVALS && !removed(cgroup); attempt += 1) await pause(REMOVE_AGAIN_MS);
}

function removed(cgroup: string): boolean {
  try {
    rmdirSync(cgroup);
    return true;
  } catch (error) {
    return isErrno(error, 'ENOENT');
  }
}

/** Groups of guests whose hypervisor was killed. Those with processes stay. */
export function removeStaleLimits(hostFolder: string): void {
  if (process.getuid?.() !== 0) return;
  try {
    const { folder } = findHierarchy();
    for (const name of readdirSync(folder))
      if (name.startsWith(prefix(hostFolder))) removed(join(folder, name));
  } catch {
    // There are none.
  }
}

function prefix(hostFolder: string): string {
  return `gpuaas-${createHash('sha256').update(hostFolder).digest('hex').slice(0, 12)}-`;
}

/** Version 1 if it has the memory controller, else version 2. */
function findHierarchy(): Hierarchy {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, folder = '', type, options = '']) => ({ folder, type, options: options.split(',') }));
  const first = mounts.find(({ type, options }) => type === 'cgroup' && options.includes('memory'));
  if (first) return { folder: first.folder, limitFile: 'memory.limit_in_bytes' };
  const second = mounts.find(({ type }) => type === 'cgroup2');
  if (!second) throw new Error('none is mounted');
  const { folder } = second;
  if (!readFileSync(join(folder, 'cgroup.controllers'), 'utf8').includes('memory'))
    throw new Error('they have no memory controller');
  if (!readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').includes('memory'))
    writeFileSync(join(folder, 'cgroup.subtree_control'), '+memory');
  return { folder, limitFile: 'memory.max' };
}
