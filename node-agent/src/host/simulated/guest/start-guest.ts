import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { appendFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureFolder, writeDurable } from '../../../durable-file.ts';
import { GuestUnreachableError } from '../../host.ts';
import { hostKeyFacts } from '../../ssh-key-pair.ts';
import type { VmDefinition } from '../vms.ts';
import {
  awaitGone,
  bootSandbox,
  endSandbox,
  GUEST_NAME,
  NoContainmentError,
  type BootedSandbox,
} from './boot-sandbox.ts';
import { readAuthorizedKeys, writeAuthorizedKeys } from './authorized-keys.ts';
import { bootLines, consoleFile } from './console-log.ts';
import { sessionCommand } from './session-command.ts';
import { ownHome } from './guest-user.ts';
import { ensureHostKey } from './host-key.ts';
import { limitMemory, removeMemoryLimit } from './memory-limit.ts';
import { gpuUuids } from './nvidia-smi.ts';
import { GuestRelay } from './relay.ts';
import { runFile, type RunFile } from './run-file.ts';
import type { Sandbox } from './sandbox.ts';
import { SessionProcesses } from './session-processes.ts';
import { serveSsh, type GuestSsh } from './ssh-server.ts';
import { motd, writeSystemFiles } from './system-files.ts';
import { watchGpuUse } from './watch-gpu-use.ts';

export interface Guest {
  /** When SSH listens, or never will. */
  booted: Promise<void>;
  /** Resolves when all of its processes have ended. */
  gone: Promise<void>;
  /** A connection to a port in the guest's network. */
  dial(port: number): Promise<Socket>;
  powerOff(): Promise<void>;
}

/** The process whose end is the end of the guest, and what runs around it. */
interface Power {
  process: ChildProcess;
  booted: BootedSandbox | null;
  /** Why no program can run in the guest. */
  problem: string;
}

/**
 * A running VM. Like a QEMU machine it can be found and killed alone, and it ends with the hypervisor. A machine that
 * cannot contain programs boots as well, and says at each login why it runs none.
 */
export async function startGuest(vm: VmDefinition): Promise<Guest> {
  const { plan, guest_folder, home } = vm;
  await ensureFolder(guest_folder);
  const system = join(guest_folder, 'system');
  const owner = await ownHome(home, plan.allocation_id);
  await writeAuthorizedKeys(vm, owner);
  await writeSystemFiles(system, plan, { driver: !vm.without_driver });
  const memory = limitMemory(dirname(dirname(guest_folder)), plan.allocation_id);
  const sandbox: Sandbox = {
    allocationId: plan.allocation_id,
    hostname: plan.hostname,
    username: plan.username,
    home,
    system,
    node: process.execPath,
    owner,
    staged: owner !== null,
    cgroup: memory.cgroup,
  };
  const power = await switchOn(vm, sandbox);
  const { booted: pids } = power;
  const processes = new SessionProcesses();
  const relay = pids && new GuestRelay(sandbox, pids);
  const gpus = pids && watchGpuUse(system, gpuUuids(plan), () => [pids.init, ...processes.all()]);
  let ssh: GuestSsh | null = null;
  let ended = false;

  async function boot(): Promise<void> {
    const run = { pid: power.process.pid ?? 0, init_pid: pids?.init ?? null };
    await writeRun(vm, { ...run, ssh_port: null });
    if (vm.never_boots) return;
    const hostKey = await ensureHostKey(guest_folder);
    const opened = await serveSsh({
      hostKey,
      hostname: plan.hostname,
      username: plan.username,
      authorizedKeys: () => readAuthorizedKeys(home),
      entry: pids
        ? { problem: null, command: (argv, environment) => sessionCommand(sandbox, pids, argv, environment) }
        : { problem: power.problem },
      network: relay,
      motd: motd(plan),
      processes,
    });
    if (ended) return opened.close();
    ssh = opened;
    const lines = bootLines(plan, hostKeyFacts(hostKey).host_key_fingerprint, memory.stated);
    await appendFile(consoleFile(guest_folder), lines, { mode: 0o600 });
    await writeRun(vm, { ...run, ssh_port: ssh.port });
  }

  const booted = boot().catch((error: unknown) => {
    power.process.kill('SIGKILL');
    throw error;
  });
  booted.catch(() => undefined);

  async function end(): Promise<void> {
    await exitOf(power.process);
    ended = true;
    ssh?.close();
    gpus?.stop();
    relay?.stop();
    await Promise.all([processes.endAll(), pids && awaitGone(pids.init)]);
    await booted.catch(() => undefined);
    await rm(runFile(guest_folder), { force: true });
    await removeMemoryLimit(memory.cgroup);
  }
  const gone = end();

  return {
    booted,
    gone,
    async dial(port) {
      if (!relay) throw new GuestUnreachableError(power.problem);
      return await relay.dial(port);
    },
    async powerOff() {
      ssh?.close();
      // Its programs end first: once the VM is seen as gone, its disk may be removed.
      if (pids) await Promise.all([endSandbox(pids), processes.endAll()]);
      else power.process.kill('SIGTERM');
      await gone;
    },
  };
}

async function switchOn(vm: VmDefinition, sandbox: Sandbox): Promise<Power> {
  if (vm.never_boots) return { ...(await bare(vm)), problem: 'the machine does not boot' };
  try {
    const booted = await bootSandbox(sandbox, (pid) => writeRun(vm, { pid, init_pid: null, ssh_port: null }));
    return { process: booted.process, booted, problem: '' };
  } catch (error) {
    if (!(error instanceof NoContainmentError)) throw error;
    console.error(`${vm.plan.allocation_id} runs no programs: ${error.message}`);
    return { ...(await bare(vm)), problem: error.message };
  }
}

/** Power without a system: a process that ends with the hypervisor, whose pipe it reads. */
async function bare(vm: VmDefinition): Promise<Pick<Power, 'process' | 'booted'>> {
  const life = spawn('/bin/sh', ['-c', 'read end', GUEST_NAME, vm.plan.allocation_id], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  life.stdin.on('error', () => undefined);
  await once(life, 'spawn');
  return { process: life, booted: null };
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function writeRun(vm: VmDefinition, run: Omit<RunFile, 'hypervisor_pid'>): Promise<void> {
  const content: RunFile = { ...run, hypervisor_pid: process.pid };
  await writeDurable(runFile(vm.guest_folder), `${JSON.stringify(content)}\n`);
}
