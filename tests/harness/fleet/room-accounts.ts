import { join } from 'node:path';
import type { VmHost } from './vm-host.ts';

/** Accounts, homes and an SSH server that only the room knows. The server has the key that the host reports. */
export async function privateAccounts({ room, dir }: Pick<VmHost, 'room' | 'dir'>): Promise<void> {
  const etc = join(dir, '..', 'etc');
  await room.run('cp', '--archive', '/etc', etc);
  await room.run('mount', '--bind', etc, '/etc');
  await room.run('mount', '-t', 'tmpfs', 'tmpfs', '/home');
  await room.run('mkdir', '-p', '/etc/ssh', '/run/sshd');
  const key = '/etc/ssh/ssh_host_ed25519_key';
  await room.run('sh', '-c', `rm -f ${key}*; ssh-keygen -q -t ed25519 -N "" -f ${key}`);
  await room.run('dropbearconvert', 'openssh', 'dropbear', key, '/run/dropbear_key');
  await room.run('dropbear', '-r', '/run/dropbear_key', '-s', '-p', '127.0.0.1:22');
}
