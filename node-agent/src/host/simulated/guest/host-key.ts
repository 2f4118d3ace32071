import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, writeDurable } from '../../../durable-file.ts';
import { newSshKeyPair } from '../../ssh-key-pair.ts';

function keyFile(guestFolder: string): string {
  return join(guestFolder, 'ssh_host_ed25519_key');
}

/** The guest's SSH host key: created once per VM, deleted with it. */
export async function ensureHostKey(guestFolder: string): Promise<string> {
  try {
    return await readFile(keyFile(guestFolder), 'utf8');
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  const pair = newSshKeyPair();
  await writeDurable(keyFile(guestFolder), pair.private);
  return pair.private;
}
