import { accessSync, constants, readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isErrno } from '../durable-file.ts';

const NAME = 'gpuaas-host-';

/**
 * A new folder for a tree of a thousand tiny files: in memory if possible. Removes leftovers of killed tests.
 */
export async function makeTreeFolder(): Promise<string> {
  const place = inMemory() ? '/dev/shm' : tmpdir();
  for (const name of readdirSync(place)) {
    const owner = new RegExp(`^${NAME}(\\d+)-`).exec(name)?.[1];
    if (owner && !isAlive(Number(owner))) rmSync(join(place, name), { recursive: true, force: true });
  }
  return await mkdtemp(join(place, `${NAME}${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
}

function inMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
