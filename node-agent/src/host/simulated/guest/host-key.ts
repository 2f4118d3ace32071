import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { isErrno, writeDurable } from '../../../durable-file.ts';
import { newSshKeyPair } from './ssh-key-pair.ts';

function keyFile(guestFolder: string): string {
  return join(guestFolder, 'ssh_host_ed25519_key');
}

/** The guest's SSH host key: made once per VM, gone with it. */
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

/** As OpenSSH prints it: `SHA256:` and base64 without padding. */
export function fingerprintOf(privateKey: string): string {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  const digest = createHash('sha256').update(key.getPublicSSH()).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}
