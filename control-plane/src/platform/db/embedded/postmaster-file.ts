import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasProcessesIn, isPidInUse, isPostmasterOf } from './processes.ts';

export type Postmaster = { pid: number; port: number };

/** The running postmaster that the cluster's lock file names, if it really is one. */
export async function findPostmaster(folder: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0) || !(await isPostmasterOf(pid, folder))) return undefined;
  return { pid, port };
}

/**
 * Removes a lock file whose pid now belongs to another program: Postgres would refuse to start. A lock file
 * with a dead pid stays, because Postgres itself then checks for leftover backends.
 */
export async function removeStaleLock(folder: string): Promise<boolean> {
  const path = join(folder, 'postmaster.pid');
  const pid = Number((await readFile(path, 'utf8').catch(() => '')).split('\n')[0]);
  if (!(pid > 0) || !isPidInUse(pid)) return false;
  if ((await isPostmasterOf(pid, folder)) || (await hasProcessesIn(folder))) return false;
  await rm(path, { force: true });
  return true;
}
