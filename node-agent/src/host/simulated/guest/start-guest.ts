import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, writeDurable } from '../../../durable-file.ts';
import { hostKeyFacts } from '../../ssh-key-pair.ts';
import type { VmDefinition } from '../vms.ts';
import { bootLines, consoleFile } from './console-log.ts';
import { ensureHostKey } from './host-key.ts';
import { runFile, type RunFile } from './run-file.ts';
import { SessionProcesses } from './session-processes.ts';
import { serveSsh, type GuestSsh } from './ssh-server.ts';
import { motd, writeSystemFiles } from './system-files.ts';

export interface Guest {
  /** When SSH listens, or never will. */
  booted: Promise<void>;
  /** When nothing of it runs any more. */
  gone: Promise<void>;
  powerOff(): Promise<void>;
}

/**
 * A VM that runs. Its life is that of a small process, as it would be with QEMU: who looks finds it, who kills it kills
 * this VM alone, and it ends with the hypervisor, whose pipe it reads.
 */
export async function startGuest(vm: VmDefinition): Promise<Guest> {
  await ensureFolder(vm.guest_folder);
  const life = spawn('/bin/sh', ['-c', 'read end', 'gpuaas-guest', vm.plan.allocation_id], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  await once(life, 'spawn');
  life.stdin.on('error', () => undefined);
  const processes = new SessionProcesses();
  let ssh: GuestSsh | null = null;
  let ended = false;

  async function boot(): Promise<void> {
    await writeRun(vm, life.pid!, null);
    if (vm.never_boots) return;
    const opened = await bootSystem(vm, processes);
    if (ended) return opened.close();
    ssh = opened;
    await writeRun(vm, life.pid!, ssh.port);
  }

  const booted = boot().catch((error: unknown) => {
    life.kill('SIGKILL');
    throw error;
  });
  booted.catch(() => undefined);

  async function end(): Promise<void> {
    await once(life, 'exit');
    ended = true;
    ssh?.close();
    await processes.endAll();
    await booted.catch(() => undefined);
    await rm(runFile(vm.guest_folder), { force: true });
  }
  const gone = end();

  return {
    booted,
    gone,
    async powerOff() {
      // Its shells first: whoever sees that the VM is gone may take its disk away.
      ssh?.close();
      await processes.endAll();
      life.kill('SIGTERM');
      await gone;
    },
  };
}

async function bootSystem(vm: VmDefinition, processes: SessionProcesses): Promise<GuestSsh> {
  const { plan, guest_folder, home } = vm;
  const system = join(guest_folder, 'system');
  await writeSystemFiles(system, plan, { driver: !vm.without_driver });
  const hostKey = await ensureHostKey(guest_folder);
  const ssh = await serveSsh({
    hostKey,
    username: plan.username,
    authorizedKeys: plan.ssh_authorized_keys,
    sandbox: { hostname: plan.hostname, username: plan.username, home, system },
    motd: motd(plan),
    processes,
  });
  const lines = bootLines(plan, hostKeyFacts(hostKey).host_key_fingerprint);
  await appendFile(consoleFile(guest_folder), lines, { mode: 0o600 });
  return ssh;
}

async function writeRun(vm: VmDefinition, pid: number, ssh_port: number | null): Promise<void> {
  const run: RunFile = { pid, hypervisor_pid: process.pid, ssh_port };
  await writeDurable(runFile(vm.guest_folder), `${JSON.stringify(run)}\n`);
}
