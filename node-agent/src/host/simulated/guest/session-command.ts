import { existsSync } from 'node:fs';
import { hasSeccompFilter } from './seccomp-filter.ts';
import {
  becomeOwner,
  GUEST_BIN,
  GUEST_CONFINE,
  GUEST_UID,
  joinCgroup,
  toCommand,
  words,
  type Command,
  type Sandbox,
} from './sandbox.ts';

/** Processes of a guest that runs; see `boot-sandbox.ts`. */
export interface GuestPids {
  monitor: number;
  life: number;
}

/** Marks the process outside of a guest that waits for a session's program. */
export const SESSION_NAME = 'gpuaas-session';

/**
 * Runs `argv` in the guest, on the descriptors of the caller. The first `nsenter` gets power over the outer user
 * namespace, the second enters everything that belongs to it and the tenant's own user namespace last, which leaves it
 * without capabilities. It stays outside of the guest's processes until the filter is loaded: its first child is the
 * first process that the tenant can see.
 */
export function sessionCommand(
  sandbox: Sandbox,
  { monitor, life }: GuestPids,
  argv: readonly string[],
  environment: Record<string, string>,
): Command {
  const home = `/home/${sandbox.username}`;
  const env = {
    HOME: home,
    USER: sandbox.username,
    LOGNAME: sandbox.username,
    SHELL: loginShell(),
    LANG: 'C.UTF-8',
    PATH: `${GUEST_BIN}:/usr/bin:/bin:/usr/sbin:/sbin`,
    XDG_RUNTIME_DIR: `/run/user/${GUEST_UID}`,
    ...environment,
  };
  return toCommand([
    ...joinCgroup(sandbox),
    ...becomeOwner(sandbox),
    ...words(`nsenter --target ${monitor} --user --preserve-credentials --`),
    ...words(`nsenter --target ${life} --user --mount --net --pid --ipc --uts --cgroup`),
    ...words('--preserve-credentials --no-fork --'),
    ...confined(),
    // The tenant can stop this process with its group; it must still end with the hypervisor.
    ...words('/usr/bin/setpriv --no-new-privs --pdeathsig KILL'),
    ...LIMITS,
    ...['/bin/sh', '-c', RUN_AND_WAIT, `${SESSION_NAME} ${sandbox.allocationId}`],
    ...closeForeignFiles(),
    // The home folder opens only for its owner, so it is entered last.
    ...['/usr/bin/env', '-i', '-C', home, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
    ...argv,
  ]);
}

/** A process of ours in the guest's network only: on our files, and invisible to the tenant. */
export function networkCommand(
  { owner }: Sandbox,
  { monitor, life }: GuestPids,
  argv: readonly string[],
): Command {
  if (owner !== null) return toCommand([...words(`nsenter --target ${life} --net --`), ...argv]);
  return toCommand([
    ...words(`nsenter --target ${monitor} --user --preserve-credentials --`),
    ...words(`nsenter --target ${life} --user --net --preserve-credentials --`),
    ...argv,
  ]);
}

// Its own messages ("Killed") are not the program's. It keeps waiting when the terminal interrupts the program. When
// the terminal hangs up it ends, and the kernel passes that on to the program in the foreground.
const RUN_AND_WAIT = 'trap : INT QUIT; exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?';

const LIMITS = words(
  `/usr/bin/prlimit --nproc=1024 --core=0 --nofile=4096 --data=${2 * 1024 ** 3} --fsize=${16 * 1024 ** 3} --`,
);

export function confined(): string[] {
  return hasSeccompFilter() ? [GUEST_CONFINE] : [];
}

export function loginShell(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/** A file descriptor that the simulator inherited from its parent must not reach a tenant. */
export function closeForeignFiles(): string[] {
  if (!existsSync('/bin/bash'))
    return ['/bin/sh', '-c', 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$@"', 'sh'];
  const script =
    'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; exec "$@"';
  return ['/bin/bash', '--norc', '--noprofile', '-c', script, 'bash'];
}
