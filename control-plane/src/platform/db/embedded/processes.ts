import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './errors.ts';

const onLinux = process.platform === 'linux';

/** Whether the number names any process, zombies included. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Whether a process runs. A zombie does not: under a container's pid 1 it may never be reaped. */
export async function isRunning(pid: number): Promise<boolean> {
  return isPidInUse(pid) && (!onLinux || (await processStat(pid))?.state !== 'Z');
}

/** Distinguishes a process from a later one with the same pid. Empty where the system has no such value. */
export async function processStartStamp(pid: number): Promise<string> {
  return (onLinux && (await processStat(pid))?.startTicks) || '';
}

async function processStat(pid: number): Promise<{ state: string; startTicks: string } | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (line === undefined) return undefined;
  // The second field is the program's name in brackets and may contain spaces and brackets.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '' };
}

/** Whether `pid` is the main Postgres process of this cluster and not some later owner of the number. */
export async function isPostmasterOf(pid: number, folder: string): Promise<boolean> {
  if (!(await isRunning(pid))) return false;
  if (onLinux) {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const itsFolder = args[args.indexOf('-D') + 1] ?? '';
    return (
      basename(args[0] ?? '') === 'postgres' && (await realFolder(itsFolder)) === (await realFolder(folder))
    );
  }
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(
    () => ({
      stdout: '',
    }),
  );
  return stdout.includes('postgres -D ') && stdout.includes(folder);
}

/** Whether a process has started to exit: its memory and command line go before the process does. */
export async function isExiting(pid: number): Promise<boolean> {
  if (!onLinux || !(await isRunning(pid))) return false;
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'gone')) === '';
}

/** Whether any process works inside the folder; Postgres backends outlive a killed postmaster a while. */
export async function hasProcessesIn(folder: string): Promise<boolean> {
  return (await processesIn(folder)).length > 0;
}

/** The processes that work inside the folder. Empty where the system cannot say. */
export async function processesIn(folder: string): Promise<number[]> {
  if (!onLinux) return [];
  const real = await realFolder(folder);
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await readlink(`/proc/${name}/cwd`).catch(() => '')) === real)
      found.push(Number(name));
  }
  return found;
}

async function realFolder(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
