import { accessSync, constants } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder for a tree of a thousand tiny files: in memory where that can be had. */
export async function makeTreeFolder(): Promise<string> {
  return await mkdtemp(join(inMemory() ? '/dev/shm' : tmpdir(), 'gpuaas-host-'));
}

function inMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
