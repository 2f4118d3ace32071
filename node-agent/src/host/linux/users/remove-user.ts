import { sleep } from '../../../backoff.ts';
import { isErrno } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostUser, HostOperation } from '../../host.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { findAccount } from './accounts.ts';
import { leaseComment } from './add-user.ts';
import type { LeaseUsers } from './lease-user.ts';
import { revokeSudo, sudoRule } from './sudo-rule.ts';
import { findLeftoverFile, deleteFilesOf, listIpcObjects, processesOf } from './user-leftovers.ts';

type User = Pick<HostUser, 'allocation_id' | 'username'>;

export interface UserRemoval {
  run: RunCommand;
  files: HostFiles;
  users: LeaseUsers;
}

const POLL_MS = 100;
const KILL_MS = 15_000;

/** Ends the user's processes, then removes the login and all of its files. */
export async function removeUser(
  removal: UserRemoval,
  user: User,
  stopTimeoutSeconds: number,
  step: HostOperation,
): Promise<void> {
  const { run, files, users } = removal;
  const uid = await uidOf(removal, user);
  if (uid === null) return;
  await revokeSudo(user.username);
  const account = await findAccount(run, user.username);
  const since = (await users.find(user.allocation_id))?.since ?? new Date().toISOString();
  // No login is possible during the removal.
  if (account)
    await runOrThrow(run, 'user_failed', 'usermod', ['--lock', '--expiredate', '1', user.username]);
  await endProcesses(uid, stopTimeoutSeconds * 1000, step);
  await run('crontab', ['-r', '-u', user.username]);
  for (const { kind, id } of listIpcObjects(uid)) await run('ipcrm', [`--${IPC[kind]}`, String(id)]);
  if (account)
    await runOrThrow(run, 'user_failed', 'userdel', ['--remove', '--force', user.username], {
      timeoutMs: 300_000,
    });
  await deleteFilesOf(run, files, { uid, since }, step.signal);
}

const IPC = { shm: 'shmem-id', msg: 'queue-id', sem: 'semaphore-id' } as const;

/** Searches the machine again for anything that is left of the user. */
export async function findLeftovers(removal: UserRemoval, user: User): Promise<string[]> {
  const { run, files, users } = removal;
  const uid = await uidOf(removal, user);
  if (uid === null) return [];
  const file = await findLeftoverFile(run, files, uid);
  const left = [
    ...((await findAccount(run, user.username)) ? [`login ${user.username}`] : []),
    ...processesOf(uid).map(({ pid, command }) => `process ${command} (pid ${pid})`),
    ...listIpcObjects(uid).map(({ kind, id }) => `${kind} object ${id}`),
    ...(file === null ? [] : [file]),
    ...(files.exists(sudoRule(user.username)) ? [`file ${sudoRule(user.username)}`] : []),
  ];
  if (left.length === 0) await users.forget(user.allocation_id);
  return left;
}

/**
 * From the login, or from our note if the login is already removed. The login of another lease is left alone.
 */
async function uidOf({ run, users }: UserRemoval, user: User): Promise<number | null> {
  const account = await findAccount(run, user.username);
  if (account && account.comment !== leaseComment(user.allocation_id)) {
    throw new TaskError('user_exists', `the user ${user.username} of this host is not of this lease`);
  }
  return account?.uid ?? (await users.find(user.allocation_id))?.uid ?? null;
}

async function endProcesses(uid: number, graceMs: number, step: HostOperation): Promise<void> {
  const began = Date.now();
  for (;;) {
    const running = processesOf(uid);
    if (running.length === 0) return;
    const spent = Date.now() - began;
    if (spent > graceMs + KILL_MS) {
      throw new TaskError('user_failed', `${running.length} processes of the tenant do not end`);
    }
    for (const { pid } of running) signal(pid, spent >= graceMs ? 'SIGKILL' : 'SIGTERM');
    await sleep(POLL_MS, step.signal);
    step.signal.throwIfAborted();
  }
}

function signal(pid: number, kind: NodeJS.Signals): void {
  try {
    process.kill(pid, kind);
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
