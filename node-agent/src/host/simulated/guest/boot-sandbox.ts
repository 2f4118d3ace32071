import { spawn, type ChildProcess } from 'node:child_process';
import { once, type EventEmitter } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { closeForeignFiles, confined, type GuestPids } from './session-command.ts';
import { bubblewrapArguments, STAGE_SOURCES } from './bubblewrap-arguments.ts';
import { becomeOwner, GUEST_UID, joinCgroup, toCommand, words, type Sandbox } from './sandbox.ts';

/**
 * A contained guest that has power, as three processes: the monitor is outside and keeps the outer user namespace open,
 * `init` is process 1 of the guest and reaps, `life` is the tenant's first process, and the guest ends with it.
 */
export interface BootedSandbox extends GuestPids {
  init: number;
  /** The monitor. Its standard input is the guest's power: `life` ends when it closes. */
  process: ChildProcess;
}

export class NoContainmentError extends Error {}

const BOOT_MS = 30_000;
const GONE_MS = 10_000;
const ARGUMENTS_FD = 3;
const STATUS_FD = 4;
/** Marks the processes of a guest; the allocation follows. */
export const GUEST_NAME = 'gpuaas-guest';
/** The hypervisor no longer reads what it says once it is up. */
const LIFE = 'echo up; exec >/dev/null 2>&1; read end';
/** The tenant's namespace is the only one below: no program of the guest gets another. */
const ONE_NAMESPACE = 'echo 1 > /proc/sys/user/max_user_namespaces && exec "$@"';

/**
 * Throws `NoContainmentError` with the reason if this machine cannot contain a guest. `onPower` records the monitor
 * before anything else runs.
 */
export async function bootSandbox(
  sandbox: Sandbox,
  onPower: (monitor: number) => Promise<void> = () => Promise.resolve(),
): Promise<BootedSandbox> {
  checkTools();
  const { file, args } = toCommand(bootCommand(sandbox));
  const monitor = spawn(file, args, {
    cwd: '/',
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  for (const stream of monitor.stdio) stream?.on('error', () => undefined);
  const ended = once(monitor, 'close').then(() => null);
  const said = collect(monitor.stderr);
  const status = collect(monitor.stdio[STATUS_FD]);
  const up = once(monitor.stdout, 'data', { signal: AbortSignal.timeout(BOOT_MS) });
  try {
    await once(monitor, 'spawn');
    const { pid } = monitor;
    if (pid === undefined) throw new Error('the monitor has no process');
    await onPower(pid);
    const list = bubblewrapArguments(sandbox).concat('--json-status-fd', String(STATUS_FD));
    const input = monitor.stdio[ARGUMENTS_FD];
    if (input && 'end' in input) input.end(list.map((word) => `${word}\0`).join(''));
    if ((await Promise.race([up, ended])) === null) throw new NoContainmentError(reason(said.text));
    const init = Number(/"child-pid": (\d+)/.exec(status.text)?.[1]);
    const life = firstChild(init);
    for (const stream of [monitor.stdout, monitor.stderr, monitor.stdio[STATUS_FD]]) stream?.destroy();
    return { process: monitor, monitor: pid, init, life };
  } catch (error) {
    up.catch(() => undefined);
    monitor.kill('SIGKILL');
    throw error instanceof NoContainmentError ? error : new NoContainmentError(reason(String(error)));
  }
}

/** Ends every process of the guest and returns when they are gone. */
export async function endSandbox({ process: monitor, init }: BootedSandbox): Promise<void> {
  const ended = monitor.exitCode === null && monitor.signalCode === null ? once(monitor, 'exit') : null;
  // The monitor reports the end of process 1, which the kernel delays until all the others are gone.
  kill(init);
  await Promise.race([ended, pause(GONE_MS, undefined, { ref: false })]);
  monitor.kill('SIGKILL');
  await awaitGone(init);
}

/** Process 1 goes last. A monitor that was killed alone is gone before it. */
export async function awaitGone(init: number): Promise<void> {
  for (const end = Date.now() + GONE_MS; isThere(init) && Date.now() < end;) await pause(5);
}

function bootCommand(sandbox: Sandbox): string[] {
  const { home, system, node, staged, allocationId } = sandbox;
  const stage = ['/bin/sh', '-c', STAGE_SOURCES, 'sh', home, system, node];
  return [
    ...joinCgroup(sandbox),
    ...(staged ? [...words('unshare --mount --propagation private --'), ...stage] : []),
    ...becomeOwner(sandbox),
    ...words('unshare --user --map-root-user --'),
    ...['/bin/sh', '-c', ONE_NAMESPACE, 'sh'],
    // Arguments on the command line would show the host's folders to the tenant.
    ...words(`bwrap --args ${ARGUMENTS_FD} --`),
    ...words(`/usr/bin/unshare --user --map-user=${GUEST_UID} --map-group=${GUEST_UID} --`),
    ...confined(),
    ...closeForeignFiles(),
    ...['/bin/sh', '-c', LIFE, GUEST_NAME, allocationId],
  ];
}

const TOOLS = { bwrap: 'bubblewrap', unshare: 'util-linux', nsenter: 'util-linux', setpriv: 'util-linux' };

function checkTools(): void {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  for (const [tool, debianPackage] of Object.entries(TOOLS))
    if (!folders.some((folder) => isExecutable(join(folder, tool))))
      throw new NoContainmentError(
        `${tool === 'bwrap' ? 'bubblewrap' : tool} is not installed (Debian/Ubuntu: apt install ${debianPackage})`,
      );
}

function reason(said: string): string {
  return (
    `bubblewrap cannot run here: ${said.trim().slice(0, 500) || 'it ended without a message'} (it needs unprivileged ` +
    'user namespaces: see the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and ' +
    'kernel.apparmor_restrict_unprivileged_userns)'
  );
}

function collect(stream: EventEmitter | null | undefined): { text: string } {
  const collected = { text: '' };
  stream?.on('data', (chunk: Buffer) => {
    if (collected.text.length < 4096) collected.text += chunk.toString();
  });
  return collected;
}

function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function isThere(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
