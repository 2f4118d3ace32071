import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { sleep } from '../../../backoff.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostUser, HostOperation, UserFacts } from '../../host.ts';
import { hostKeyFacts } from '../../ssh-key-pair.ts';
import type { RunCommand } from '../commands.ts';
import { ensureAccount } from './accounts.ts';
import type { LeaseUsers } from './lease-user.ts';
import { grantSudo } from './sudo-rule.ts';
import { writeKeys } from './write-keys.ts';

const HOST_KEY = '/etc/ssh/ssh_host_ed25519_key.pub';
const SSHD_MS = 15_000;

export function leaseComment(allocationId: string): string {
  return `gpuaas lease ${allocationId}`;
}

/** Creates a login without rights beyond its own files, unless root is requested; a second run finds it. */
export async function addUser(
  { run, users }: { run: RunCommand; users: LeaseUsers },
  user: HostUser,
  step: HostOperation,
): Promise<UserFacts> {
  const { allocation_id, username, root = false } = user;
  const now = new Date().toISOString();
  const { started_at, since } = (await users.find(allocation_id)) ?? { started_at: now, since: now };
  const account = await ensureAccount(run, username, leaseComment(allocation_id), { root });
  await users.keep({ allocation_id, username, uid: account.uid, started_at, since });
  if (root) await grantSudo(run, username);
  await writeKeys(run, account, user.ssh_authorized_keys);
  await awaitSshd(step);
  return {
    ...hostKeyFacts(await hostKey()),
    started_at,
    address: ownAddress(),
  };
}

async function hostKey(): Promise<string> {
  try {
    return await readFile(HOST_KEY, 'utf8');
  } catch {
    throw new TaskError('login_not_ready', `this host has no ${HOST_KEY}`);
  }
}

async function awaitSshd(step: HostOperation): Promise<void> {
  const end = Date.now() + SSHD_MS;
  while (!(await greets())) {
    if (Date.now() > end) throw new TaskError('login_not_ready', 'SSH of the host does not answer');
    await sleep(250, step.signal);
    step.signal.throwIfAborted();
  }
}

async function greets(): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: 22 });
  try {
    const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(2_000) })) as [Buffer];
    return chunk.toString('latin1').startsWith('SSH-2.0-');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function ownAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}
