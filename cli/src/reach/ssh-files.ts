import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { settingsFile } from '../settings-folder.ts';
import { hasErrorCode } from '../error-code.ts';

/** Files that `ssh` reads, apart from the person's own. */
export function sshFile(name: 'config' | 'known_hosts'): string {
  return settingsFile(join('ssh', name));
}

/** Writes the file atomically; false when its content is unchanged. */
export async function replaceFile(file: string, content: string): Promise<boolean> {
  if ((await readIfExists(file)) === content) return false;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, content, { mode: 0o600 });
  await rename(partial, file);
  return true;
}

export async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return '';
    throw error;
  }
}
