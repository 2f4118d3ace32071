/** What contains one guest: the files it sees and the user it is. */
export interface Sandbox {
  /** Names the guest's processes on the simulating machine. */
  allocationId: string;
  hostname: string;
  username: string;
  /** The home folder on the VM's boot disk. */
  home: string;
  /** Read-only files of the guest: `etc/`, `bin/`, `gpu/` and the program that loads the filter. */
  system: string;
  /** The Node binary that the guest gets. */
  node: string;
  /**
   * User of the simulating machine that the guest's processes are; null if they are the hypervisor's. Each guest of a
   * hypervisor that runs as root has one, because the kernel counts processes by user.
   */
  owner: number | null;
  /** Root binds the guest's files where its user can reach them: the folders above them are closed. */
  staged: boolean;
  /** The control group that bounds the guest's memory, if there is one. */
  cgroup: string | null;
}

export interface Command {
  file: string;
  args: string[];
}

/** The tenant's user inside each guest. */
export const GUEST_UID = 1000;
/** Where a guest finds the platform's programs. */
export const GUEST_BIN = '/opt/gpuaas/bin';
/** Where a guest reads how busy its GPUs are. */
export const GUEST_GPU = '/opt/gpuaas/gpu';
/** Inside the guest, and below its `system` folder. */
export const GUEST_CONFINE = '/opt/gpuaas/confine';
export const CONFINE_FILE = 'confine';

export function words(text: string): string[] {
  return text.split(' ');
}

/** Runs the following words as the guest's user. */
export function becomeOwner({ owner }: Sandbox): string[] {
  return owner === null ? [] : words(`setpriv --reuid=${owner} --regid=${owner} --clear-groups --`);
}

/** Puts the following words into the guest's control group. Only root has one. */
export function joinCgroup({ cgroup }: Sandbox): string[] {
  if (cgroup === null) return [];
  return ['/bin/sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup];
}

export function toCommand([file, ...args]: readonly string[]): Command {
  if (file === undefined) throw new Error('a command has a program');
  return { file, args };
}
