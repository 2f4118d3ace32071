import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * How busy the simulated GPUs of one guest are. A process uses the GPUs that its CUDA_VISIBLE_DEVICES names, by index or
 * UUID, and no GPU without that variable: a compiler or an editor does not use one either. A GPU is as busy as the
 * processor time of its processes: 100 % is one core, or more.
 */
export interface GpuProcess {
  pid: number;
  /** Processor time since it started. */
  seconds: number;
  /** Value of CUDA_VISIBLE_DEVICES. */
  devices: string;
}

const TICKS_PER_SECOND = 100;
const MAX_ENVIRONMENT = 16_384;
const VARIABLE = 'CUDA_VISIBLE_DEVICES=';

/** Percent of each GPU between two observations. A process that was not seen before counts from its start. */
export function gpuUse(
  uuids: readonly string[],
  before: ReadonlyMap<number, number>,
  now: readonly GpuProcess[],
  elapsedSeconds: number,
): number[] {
  const busy = uuids.map(() => 0);
  for (const { pid, seconds, devices } of now) {
    const spent = Math.max(0, seconds - (before.get(pid) ?? 0));
    for (const index of namedDevices(devices, uuids)) busy[index] = (busy[index] ?? 0) + spent;
  }
  return busy.map((seconds) => Math.min(100, Math.round((seconds / elapsedSeconds) * 100)));
}

/** As CUDA reads it: up to the first entry that is no device. */
export function namedDevices(value: string, uuids: readonly string[]): number[] {
  const named: number[] = [];
  for (const entry of value.split(',').map((word) => word.trim())) {
    const index = /^\d+$/.test(entry)
      ? Number(entry)
      : uuids.findIndex((uuid) => entry.length > 4 && uuid.startsWith(entry));
    if (index < 0 || index >= uuids.length || named.includes(index)) break;
    named.push(index);
  }
  return named;
}

/** Processes below the given ones that name a GPU. */
export function gpuProcesses(roots: readonly number[]): GpuProcess[] {
  return roots.flatMap(descendants).flatMap((pid) => {
    const environment = readStart(`/proc/${pid}/environ`).split('\0');
    const devices = environment.find((entry) => entry.startsWith(VARIABLE))?.slice(VARIABLE.length);
    const stat = devices === undefined ? null : read(`/proc/${pid}/stat`);
    if (devices === undefined || stat === null) return [];
    // The name of the program is in brackets and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return [{ pid, devices, seconds: (user + system) / TICKS_PER_SECOND }];
  });
}

function descendants(pid: number): number[] {
  return children(pid).flatMap((child) => [child, ...descendants(child)]);
}

function children(pid: number): number[] {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    // It has ended.
  }
  return threads
    .flatMap((thread) => (read(`/proc/${pid}/task/${thread}/children`) ?? '').split(' '))
    .filter((text) => text.trim() !== '')
    .map(Number);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Tenants choose the length of what they put there. */
function readStart(path: string): string {
  const start = Buffer.alloc(MAX_ENVIRONMENT);
  try {
    const file = openSync(path, 'r');
    try {
      return start.toString('utf8', 0, readSync(file, start));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/** A line with the percentage of each GPU, which `nvidia-smi` in the guest and the host's heartbeat read. */
export function gpuUseFile(system: string): string {
  return join(system, 'gpu', 'use');
}

export async function writeGpuUse(system: string, use: readonly number[]): Promise<void> {
  const file = gpuUseFile(system);
  await writeFile(`${file}.new`, `${use.join('\n')}\n`);
  await chmod(`${file}.new`, 0o644);
  await rename(`${file}.new`, file);
}
