import { statSync } from 'node:fs';
import { sleep } from '../../../backoff.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { commandError, type CommandResult, type RunCommand } from '../commands.ts';

/** The machines of this host, by the one tool that every release of libvirt has. */
export interface Libvirt {
  /** All machines, running or not. */
  names(): Promise<string[]>;
  /** The state from virsh, such as `running` or `shut off`; null without such a machine. */
  state(name: string): Promise<string | null>;
  xml(name: string): Promise<string | null>;
  /** Machines that use one of these block devices as a disk, under any name. */
  domainsUsing(deviceNumbers: readonly number[]): Promise<string[]>;
  define(file: string): Promise<void>;
  /** The machine exists from here on, and has not run an instruction yet. */
  startPaused(name: string, signal: AbortSignal): Promise<void>;
  resume(name: string): Promise<void>;
  /** Presses the power button. */
  shutdown(name: string): Promise<void>;
  /** Pulls the plug. */
  destroy(name: string): Promise<void>;
  undefine(name: string): Promise<void>;
}

/** A restart of the daemon is no reason to give a task up. */
const PATIENCE_MS = 30_000;
const AWAY =
  /failed to connect|cannot recv|end of file|connection reset|broken pipe|client socket is closed|disconnected/i;
const START_MS = 300_000;

export function openLibvirt(run: RunCommand): Libvirt {
  async function ask(args: readonly string[], options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const result = await run('virsh', ['--quiet', '--connect', 'qemu:///system', ...args], {
        timeoutMs: 30_000,
        ...options,
      });
      if (result === null) throw new TaskError('libvirt_unreachable', 'virsh is not installed on this host');
      if (result.code === 0 || !AWAY.test(result.stderr)) return result;
      if (Date.now() > end) throw new TaskError('libvirt_unreachable', commandError(result));
      await sleep(500, options.signal);
      options.signal?.throwIfAborted();
    }
  }

  async function names(): Promise<string[]> {
    const answer = insist(await ask(['list', '--all', '--name']), 'list');
    return answer.split('\n').filter((name) => name !== '');
  }

  /** The output, or null when the machine does not exist; any other error does not count as absence. */
  async function about(name: string, args: readonly string[]): Promise<string | null> {
    const result = await ask([...args, name]);
    if (result.code === 0) return result.stdout.trim();
    if (!(await names()).includes(name)) return null;
    throw new TaskError('libvirt_failed', commandError(result));
  }

  const libvirt: Libvirt = {
    names,
    state: (name) => about(name, ['domstate']),
    xml: (name) => about(name, ['dumpxml']),
    async domainsUsing(deviceNumbers) {
      const using: string[] = [];
      for (const name of await names()) {
        const xml = (await libvirt.xml(name)) ?? '';
        const sources = [...xml.matchAll(/<source (?:dev|file)='([^']+)'/g)].map(([, path]) => path ?? '');
        if (sources.some((path) => isDevice(path, deviceNumbers))) using.push(name);
      }
      return using;
    },
    async define(file) {
      insist(await ask(['define', file]), 'define');
    },
    async startPaused(name, signal) {
      const result = await ask(['start', '--paused', name], { timeoutMs: START_MS, signal });
      // A daemon that stopped during the call may have started it nevertheless.
      if (result.code !== 0 && (await libvirt.state(name)) !== 'paused') insist(result, 'start');
    },
    async resume(name) {
      const result = await ask(['resume', name]);
      if (result.code !== 0 && (await libvirt.state(name)) !== 'running') insist(result, 'resume');
    },
    async shutdown(name) {
      const result = await ask(['shutdown', '--mode', 'acpi', name]);
      // It may have ended since the last check.
      if (result.code !== 0 && isUp(await libvirt.state(name))) insist(result, 'shutdown');
    },
    async destroy(name) {
      const result = await ask(['destroy', name], { timeoutMs: 60_000 });
      if (result.code !== 0 && isUp(await libvirt.state(name))) insist(result, 'destroy');
    },
    async undefine(name) {
      const result = await ask(['undefine', '--nvram', '--managed-save', name]);
      if (result.code !== 0 && (await names()).includes(name)) insist(result, 'undefine');
    },
  };
  return libvirt;
}

function isUp(state: string | null): boolean {
  return state !== null && state !== 'shut off';
}

function insist(result: CommandResult, what: string): string {
  if (result.code !== 0) throw new TaskError('libvirt_failed', `${what}: ${commandError(result)}`);
  return result.stdout;
}

function isDevice(path: string, numbers: readonly number[]): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && facts.isBlockDevice() && numbers.includes(facts.rdev);
}
