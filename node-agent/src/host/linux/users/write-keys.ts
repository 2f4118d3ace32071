import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun, type RunCommand } from '../commands.ts';
import type { Account } from './accounts.ts';

/**
 * Puts the keys into the home of a login, by nobody's rights but the login's own: a second attempt may come after the
 * tenant has been there, and meets whatever it has put in place of its files.
 */
export async function writeKeys(
  run: RunCommand,
  { uid, gid, home }: Pick<Account, 'uid' | 'gid' | 'home'>,
  keys: readonly string[],
): Promise<void> {
  const asUser = async (words: readonly string[], input = ''): Promise<void> => {
    const who = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--'];
    await mustRun(run, 'user_failed', 'setpriv', [...who, ...words], { input });
  };
  const folder = join(home, '.ssh');
  const file = join(folder, 'authorized_keys');
  await chmod(home, 0o700);
  await asUser(['mkdir', '--parents', '--mode=700', folder]);
  await asUser(['tee', file], `${keys.map((key) => key.trim()).join('\n')}\n`);
  // A server of SSH reads no keys that others may write.
  await asUser(['chmod', '600', file]);
}
