import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, removeDurable } from '../durable-file.ts';

export function enrolmentTokenFile(dir: string): string {
  return join(dir, 'enrolment-token');
}

/** A token that an administrator left for an agent that is already running. */
export async function readTokenFile(dir: string): Promise<string | null> {
  try {
    return (await readFile(enrolmentTokenFile(dir), 'utf8')).trim() || null;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

export async function removeTokenFile(dir: string): Promise<void> {
  await removeDurable(enrolmentTokenFile(dir));
}
