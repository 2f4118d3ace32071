import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Who a tenant is on the machine that simulates when the agent runs as root. Mapping root into a user namespace
 * instead would leave the tenant with the kernel's root identity, and with it a writable /proc/sys.
 */
export const GUEST_UID = 64_010;

export interface Sandbox {
  hostname: string;
  username: string;
  /** The home folder on the VM's boot disk. */
  home: string;
  /** Read-only files of the guest: `etc/` and `bin/`. */
  system: string;
}

export interface Command {
  file: string;
  args: string[];
}

const MERGED_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const HOST_ETC = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/terminfo',
];
const GUEST_BIN = '/opt/gpuaas/bin';
/** Parents of mounts would otherwise be closed to all but root. */
const OPEN_FOLDERS = ['/home', '/etc', '/run', '/var', '/opt', '/opt/gpuaas'];

/** Runs `argv` in a bubblewrap container that sees the system's programs, the VM's home and nothing else. */
export function contain(
  sandbox: Sandbox,
  argv: readonly string[],
  environment: Record<string, string>,
): Command {
  const asRoot = process.getuid?.() === 0;
  const home = `/home/${sandbox.username}`;
  const env = {
    HOME: home,
    USER: sandbox.username,
    LOGNAME: sandbox.username,
    SHELL: loginShell(),
    LANG: 'C.UTF-8',
    PATH: `${GUEST_BIN}:/usr/bin:/bin:/usr/sbin:/sbin`,
    ...environment,
  };
  return {
    file: 'bwrap',
    args: [
      ...(asRoot ? ROOT_NAMESPACES : USER_NAMESPACES),
      ...option('--hostname', sandbox.hostname),
      ...OPEN_FOLDERS.flatMap((path) => option('--perms', '0755', '--dir', path)),
      ...option('--ro-bind', '/usr', '/usr'),
      ...option('--tmpfs', '/usr/local'),
      ...mergedFolders(),
      ...HOST_ETC.filter((path) => existsSync(path)).flatMap((path) => option('--ro-bind', path, path)),
      ...GUEST_ETC.flatMap((name) => option('--ro-bind', join(sandbox.system, 'etc', name), `/etc/${name}`)),
      ...option('--ro-bind', join(sandbox.system, 'bin'), GUEST_BIN),
      ...option('--proc', '/proc'),
      ...option('--dev', '/dev'),
      ...['/tmp', '/var/tmp'].flatMap((path) => option('--perms', '1777', '--tmpfs', path)),
      ...option('--bind', sandbox.home, home),
      ...option('--chdir', '/'),
      '--clearenv',
      ...Object.entries(env).flatMap(([name, value]) => option('--setenv', name, value)),
      '--die-with-parent',
      '--',
      ...closeForeignFiles(),
      ...LIMITS,
      ...(asRoot ? DROP_ROOT : []),
      // The home folder opens only for its owner, so it is entered last.
      ...option('/usr/bin/env', '-C', home),
      ...argv,
    ],
  };
}

/** Files of `etc/` that the guest brings itself. */
export const GUEST_ETC = ['passwd', 'group', 'hostname', 'hosts', 'profile', 'bash.bashrc', 'motd'] as const;

// No --new-session: it would take the terminal from the shell and with it job control; the pty belongs to this
// session alone, so there is no foreign terminal to inject into.
const USER_NAMESPACES = words('--unshare-user --unshare-all --disable-userns --uid 1000 --gid 1000');
const ROOT_NAMESPACES = words(
  '--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try ' +
    '--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP',
);
const LIMITS = words('/usr/bin/prlimit --nproc=1024 --core=0 --nofile=1024 --');
const DROP_ROOT = words(
  `/usr/bin/setpriv --reuid=${GUEST_UID} --regid=${GUEST_UID} --clear-groups --no-new-privs ` +
    '--inh-caps=-all --ambient-caps=-all --bounding-set=-all',
);

function words(text: string): string[] {
  return text.split(' ');
}

function option(...parts: string[]): string[] {
  return parts;
}

export function loginShell(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/** A file that the simulator inherited from whoever started it must not reach a tenant. */
function closeForeignFiles(): string[] {
  if (!existsSync('/bin/bash')) return [];
  const script =
    'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; exec "$@"';
  return ['/bin/bash', '--norc', '--noprofile', '-c', script, 'bash'];
}

/** Null when a contained command runs here, else what stands in the way. */
export function containmentProblem(sandbox: Sandbox): string | null {
  const { file, args } = contain(sandbox, ['/bin/true'], {});
  const trial = spawnSync(file, args, {
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (trial.status === 0) return null;
  const missing = trial.error && 'code' in trial.error && trial.error.code === 'ENOENT';
  return missing
    ? 'bubblewrap is not installed (Debian/Ubuntu: apt install bubblewrap)'
    : `bubblewrap cannot run here: ${trial.stderr?.trim() || trial.error?.message || `exit ${trial.status}`} ` +
        '(it needs unprivileged user namespaces, and util-linux for prlimit and setpriv)';
}

function mergedFolders(): string[] {
  return MERGED_FOLDERS.flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  });
}
