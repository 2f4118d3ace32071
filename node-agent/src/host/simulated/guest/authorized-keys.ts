import { constants } from 'node:fs';
import { chown, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurable } from '../../../durable-file.ts';
import type { VmDefinition } from '../vms.ts';

const MAX_BYTES = 256 * 1024;

function fileOf(home: string): string {
  return join(home, '.ssh', 'authorized_keys');
}

/**
 * Gives a machine its keys at its first boot, as cloud-init does. Later the file is the tenant's. The machine is off, so
 * nobody replaces the folder meanwhile.
 */
export async function writeAuthorizedKeys(
  { plan, home, guest_folder }: Pick<VmDefinition, 'plan' | 'home' | 'guest_folder'>,
  owner: number | null,
): Promise<void> {
  const lines = plan.ssh_authorized_keys.map((key) => `${key.trim()}\n`).join('');
  // A disk that was cloned again has another home.
  const { ino, birthtimeMs } = await stat(home);
  const keys = `home ${ino} ${birthtimeMs}\n${lines}`;
  const written = join(guest_folder, 'written_keys');
  if ((await readFile(written, 'utf8').catch(() => null)) === keys) return;
  const folder = join(home, '.ssh');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  await writeFile(fileOf(home), lines, { mode: 0o600, flag: 'wx' });
  if (owner !== null) for (const path of [folder, fileOf(home)]) await chown(path, owner, owner);
  await writeDurable(written, keys);
}

/** The keys that the machine accepts now. What the tenant put there instead of a plain file holds none. */
export async function readAuthorizedKeys(home: string): Promise<readonly string[]> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(fileOf(home), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > MAX_BYTES) return [];
    return (await file.readFile('utf8')).split('\n').filter((line) => line.trim() !== '');
  } finally {
    await file.close();
  }
}
