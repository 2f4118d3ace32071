import { pause } from '../../../backoff.ts';
import { isErrno } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostUser, Step } from '../../host.ts';
import { mustRun, type RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { findAccount } from './accounts.ts';
import { leaseMark } from './add-user.ts';
import type { LeaseUsers } from './lease-user.ts';
import { forbidRoot, sudoRule } from './sudo-rule.ts';
import { anyFileOf, deleteFilesOf, ipcOf, processesOf } from './traces.ts';

type User = Pick<HostUser, 'allocation_id' | 'username'>;

export interface UserRemoval {
  run: RunCommand;
  files: HostFiles;
  users: LeaseUsers;
}

const LOOK_MS = 100;
const KILL_MS = 15_000;

/** Ends what the user runs, then takes away the login and every file that is its. */
export async function removeUser(
  removal: UserRemoval,
  user: User,
  stopTimeoutSeconds: number,
  step: Step,
): Promise<void> {
  const { run, files, users } = removal;
  const uid = await uidOf(removal, user);
  if (uid === null) return;
  await forbidRoot(user.username);
  const account = await findAccount(run, user.username);
  const since = (await users.find(user.allocation_id))?.since ?? new Date().toISOString();
  // Nobody logs in while we clear up.
  if (account) await mustRun(run, 'user_failed', 'usermod', ['--lock', '--expiredate', '1', user.username]);
  await endProcesses(uid, stopTimeoutSeconds * 1000, step);
  await run('crontab', ['-r', '-u', user.username]);
  for (const { kind, id } of ipcOf(uid)) await run('ipcrm', [`--${IPC[kind]}`, String(id)]);
  if (account)
    await mustRun(run, 'user_failed', 'userdel', ['--remove', '--force', user.username], {
      timeoutMs: 300_000,
    });
  await deleteFilesOf(run, files, { uid, since }, step.signal);
}

const IPC = { shm: 'shmem-id', msg: 'queue-id', sem: 'semaphore-id' } as const;

/** What of the user is still there, by looking at the machine again. */
export async function findLeftovers(removal: UserRemoval, user: User): Promise<string[]> {
  const { run, files, users } = removal;
  const uid = await uidOf(removal, user);
  if (uid === null) return [];
  const file = await anyFileOf(run, files, uid);
  const left = [
    ...((await findAccount(run, user.username)) ? [`login ${user.username}`] : []),
    ...processesOf(uid).map(({ pid, command }) => `process ${command} (pid ${pid})`),
    ...ipcOf(uid).map(({ kind, id }) => `${kind} object ${id}`),
    ...(file === null ? [] : [file]),
    ...(files.exists(sudoRule(user.username)) ? [`file ${sudoRule(user.username)}`] : []),
  ];
  if (left.length === 0) await users.forget(user.allocation_id);
  return left;
}

/** From the login, or from our note when that is gone already. Another lease's login is not ours to remove. */
async function uidOf({ run, users }: UserRemoval, user: User): Promise<number | null> {
  const account = await findAccount(run, user.username);
  if (account && account.comment !== leaseMark(user.allocation_id)) {
    throw new TaskError('user_exists', `the user ${user.username} of this host is not of this lease`);
  }
  return account?.uid ?? (await users.find(user.allocation_id))?.uid ?? null;
}

async function endProcesses(uid: number, graceMs: number, step: Step): Promise<void> {
  const began = Date.now();
  for (;;) {
    const running = processesOf(uid);
    if (running.length === 0) return;
    const spent = Date.now() - began;
    if (spent > graceMs + KILL_MS) {
      throw new TaskError('user_failed', `${running.length} processes of the tenant do not end`);
    }
    for (const { pid } of running) signal(pid, spent >= graceMs ? 'SIGKILL' : 'SIGTERM');
    await pause(LOOK_MS, step.signal);
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
