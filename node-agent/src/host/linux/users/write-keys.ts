import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { Account } from './accounts.ts';

/**
 * Writes the keys into the home of a login with the login's own rights only: on a second attempt the tenant
 * may have replaced its files with anything.
 */
export async function writeKeys(
  run: RunCommand,
  { uid, gid, home }: Pick<Account, 'uid' | 'gid' | 'home'>,
  keys: readonly string[],
): Promise<void> {
  const asUser = async (words: readonly string[], input = ''): Promise<void> => {
    const who = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--'];
    await runOrThrow(run, 'user_failed', 'setpriv', [...who, ...words], { input });
  };
  const folder = join(home, '.ssh');
  const file = join(folder, 'authorized_keys');
  await chmod(home, 0o700);
  await asUser(['mkdir', '--parents', '--mode=700', folder]);
  await asUser(['tee', file], `${keys.map((key) => key.trim()).join('\n')}\n`);
  // An SSH server ignores key files that others may write.
  await asUser(['chmod', '600', file]);
}
