import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { hasSeccompFilter } from './seccomp-filter.ts';
import {
  CONFINE_FILE,
  GUEST_BIN,
  GUEST_CONFINE,
  GUEST_GPU,
  GUEST_UID,
  words,
  type Sandbox,
} from './sandbox.ts';

/** Files of `etc/` that the guest brings itself. */
export const GUEST_ETC = ['passwd', 'group', 'hostname', 'hosts', 'profile', 'bash.bashrc', 'motd'] as const;

const MERGED_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const HOST_ETC = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/terminfo',
];
/** Parents of mounts would otherwise be closed to all but root. */
const OPEN_FOLDERS = ['/home', '/etc', '/run', '/run/user', '/var', '/opt', '/opt/gpuaas'];
const SMALL = String(16 * 1024 ** 2);
const LARGE = String(1024 ** 3);

/** Folders of the simulating machine that become part of the guest. */
export type GuestSources = Pick<Sandbox, 'home' | 'system' | 'node'>;

/** Where root binds the sources, in a mount namespace of the guest's own. */
const STAGE = '/mnt';
export const STAGED: GuestSources = {
  home: `${STAGE}/home`,
  system: `${STAGE}/system`,
  node: `${STAGE}/node`,
};

/** Binds home, system and Node to the stage, then runs its other arguments. */
export const STAGE_SOURCES = [
  `mount -t tmpfs -o mode=0755,size=64k,nr_inodes=8 gpuaas ${STAGE}`,
  `mkdir ${STAGED.home} ${STAGED.system}`,
  `: > ${STAGED.node}`,
  `mount --bind "$1" ${STAGED.home}`,
  `mount --bind "$2" ${STAGED.system}`,
  `mount --bind "$3" ${STAGED.node}`,
  'shift 3',
  'exec "$@"',
].join(' && ');

/** Arguments of bubblewrap: the guest sees the system's programs, its home and nothing else. */
export function bubblewrapArguments(sandbox: Sandbox): string[] {
  const { home, system, node } = sandbox.staged ? STAGED : sandbox;
  return [
    ...words('--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup'),
    // Without CAP_SETFCAP the tenant's user cannot be mapped in the second user namespace.
    ...words('--cap-drop ALL --cap-add CAP_SETFCAP'),
    ...option('--hostname', sandbox.hostname),
    ...OPEN_FOLDERS.flatMap((path) => option('--perms', '0755', '--dir', path)),
    ...option('--ro-bind', '/usr', '/usr'),
    ...option('--size', SMALL, '--tmpfs', '/usr/local'),
    ...mergedFolders(),
    ...HOST_ETC.filter((path) => existsSync(path)).flatMap((path) => option('--ro-bind', path, path)),
    ...GUEST_ETC.flatMap((name) => option('--ro-bind', join(system, 'etc', name), `/etc/${name}`)),
    ...option('--ro-bind', join(system, 'bin'), GUEST_BIN),
    ...option('--ro-bind', join(system, 'gpu'), GUEST_GPU),
    ...option('--ro-bind', node, `${GUEST_BIN}/node`),
    ...(hasSeccompFilter() ? option('--ro-bind', join(system, CONFINE_FILE), GUEST_CONFINE) : []),
    ...option('--proc', '/proc'),
    ...option('--dev', '/dev'),
    ...['/tmp', '/var/tmp', '/dev/shm'].flatMap((path) =>
      option('--perms', '1777', '--size', LARGE, '--tmpfs', path),
    ),
    ...option('--perms', '0700', '--size', SMALL, '--tmpfs', `/run/user/${GUEST_UID}`),
    ...option('--bind', home, `/home/${sandbox.username}`),
    // What is left of these lies in memory without a limit.
    ...['/dev', '/'].flatMap((path) => option('--remount-ro', path)),
    ...option('--chdir', '/'),
    ...words('--clearenv --die-with-parent'),
  ];
}

function option(...parts: string[]): string[] {
  return parts;
}

function mergedFolders(): string[] {
  return MERGED_FOLDERS.flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  });
}
