import { createHash } from 'node:crypto';
import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';

export interface Account {
  uid: number;
  gid: number;
  comment: string;
  home: string;
}

/**
 * Uids reserved for leases: at the end of a lease every file of its uid is deleted, and unpacked archives
 * leave files of ordinary uids on many hosts.
 */
const FIRST_UID = 700_000_000;
const UIDS = 100_000_000;

/** Groups that make a user as good as root. */
const POWERFUL = [
  'root',
  'sudo',
  'wheel',
  'admin',
  'docker',
  'lxd',
  'incus',
  'libvirt',
  'kvm',
  'disk',
  'adm',
  'shadow',
];

/** The account in the machine's name service; null without such a user. */
export async function findAccount(run: RunCommand, username: string): Promise<Account | null> {
  const result = await run('getent', ['passwd', username]);
  const [, , uid, gid, comment, home] = result?.code === 0 ? result.stdout.trim().split(':') : [];
  if (uid === undefined || home === undefined) return null;
  return { uid: Number(uid), gid: Number(gid), comment: comment ?? '', home };
}

/** Creates the login, or finds the one that an earlier attempt created for this lease. */
export async function ensureAccount(
  run: RunCommand,
  username: string,
  mark: string,
  { root }: { root: boolean },
): Promise<Account> {
  const known = await findAccount(run, username);
  if (known && known.comment !== mark) {
    throw new TaskError('user_exists', `this host already has a user ${username} that is not of this lease`);
  }
  if (!known) {
    const id = String(leaseUid(mark));
    await runOrThrow(run, 'user_failed', 'groupadd', ['--force', '--gid', id, username]);
    const words = [
      '--uid',
      id,
      '--gid',
      id,
      '--create-home',
      '--shell',
      '/bin/bash',
      '--comment',
      mark,
      username,
    ];
    await runOrThrow(run, 'user_failed', 'useradd', words, { timeoutMs: 60_000 });
  }
  const account = await findAccount(run, username);
  if (!account || account.uid < FIRST_UID) throw new TaskError('user_failed', `${username} was not made`);
  if (!root) await refusePower(run, username);
  return account;
}

/** Derived from the lease, so that a second attempt creates the same user. */
function leaseUid(mark: string): number {
  return FIRST_UID + (createHash('sha256').update(mark).digest().readUInt32BE(0) % UIDS);
}

async function refusePower(run: RunCommand, username: string): Promise<void> {
  const groups = (await runOrThrow(run, 'user_failed', 'id', ['--groups', '--name', username]))
    .trim()
    .split(' ');
  const powerful = groups.filter((group) => POWERFUL.includes(group));
  if (powerful.length > 0) {
    throw new TaskError('user_privileged', `${username} would be in ${powerful.join(', ')}`);
  }
  const sudo = await run('sudo', ['--non-interactive', '--list', '--other-user', username]);
  if (sudo && /may run the following/.test(sudo.stdout)) {
    throw new TaskError('user_privileged', `sudo would let ${username} act as another user`);
  }
}
