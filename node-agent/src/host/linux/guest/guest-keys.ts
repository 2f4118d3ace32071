import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, writeDurable } from '../../../durable-file.ts';
import { newSshKeyPair } from '../../ssh-key-pair.ts';

export interface KeyPair {
  private: string;
  public: string;
}

/** Marks the agent's own key among those of the tenant. */
export const FIRST_LOGIN = 'gpuaas-first-login';

const HOST_KEY = 'ssh_host_ed25519_key';
const LOGIN_KEY = 'first_login_key';

/** SSH keys of a guest: created once per machine, stored beside its seed. */
export function openGuestKeys(folder: string) {
  return {
    hostKey: () => ensurePair(join(folder, HOST_KEY)),
    firstLogin: () => ensurePair(join(folder, LOGIN_KEY)),
    async forgetFirstLogin(): Promise<void> {
      for (const ending of ['', '.pub']) await rm(join(folder, `${LOGIN_KEY}${ending}`), { force: true });
    },
  };
}

async function ensurePair(file: string): Promise<KeyPair> {
  try {
    return { private: await readFile(file, 'utf8'), public: await readFile(`${file}.pub`, 'utf8') };
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  const pair = newSshKeyPair();
  await writeDurable(file, pair.private);
  await writeDurable(`${file}.pub`, pair.public);
  return pair;
}
