import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause } from '../../backoff.ts';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../../durable-file.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { consoleFile } from './guest/console-log.ts';
import { isGuestAlive, readRunFile, type RunFile } from './guest/run-file.ts';

/** What the hypervisor keeps about a VM; it is powered on with the host. */
export interface VmDefinition {
  plan: VmPlan;
  home: string;
  guest_folder: string;
  started_at: string;
  never_boots: boolean;
  /** The image came up without the GPU driver that it promises. */
  without_driver: boolean;
}

export interface SimulatedVms {
  define(
    plan: VmPlan,
    options: { home: string; neverBoots?: boolean; withoutDriver?: boolean },
  ): Promise<VmDefinition>;
  find(allocationId: string): Promise<VmDefinition | null>;
  list(): Promise<VmDefinition[]>;
  /** Starts the guest process unless it lives, and waits until it can be seen. */
  powerOn(vm: VmDefinition): Promise<void>;
  /** The run file of a living guest. */
  running(allocationId: string): Promise<RunFile | null>;
  /** Asks first and forces after the timeout; answers whether it had to. */
  stop(allocationId: string, timeoutMs: number, signal: AbortSignal): Promise<'graceful' | 'forced'>;
  undefine(allocationId: string): Promise<void>;
}

const POWER_ON_MS = 10_000;
const GUEST_MAIN = fileURLToPath(new URL('guest-main.ts', import.meta.url));

export async function openVms(dir: string, powerFd: number | null): Promise<SimulatedVms> {
  const folder = join(dir, 'vms');
  await ensureFolder(folder);
  const definitionFile = (allocationId: string): string => join(folder, `${allocationId}.json`);
  const guestFolder = (allocationId: string): string => join(folder, allocationId);

  async function store(vm: VmDefinition): Promise<VmDefinition> {
    await writeDurable(definitionFile(vm.plan.allocation_id), `${JSON.stringify(vm, null, 2)}\n`);
    return vm;
  }

  async function running(allocationId: string): Promise<RunFile | null> {
    const run = await readRunFile(guestFolder(allocationId));
    return run && isGuestAlive(run, allocationId) ? run : null;
  }

  const vms: SimulatedVms = {
    running,
    async define(plan, { home, neverBoots = false, withoutDriver = false }) {
      const guest_folder = guestFolder(plan.allocation_id);
      await ensureFolder(guest_folder);
      return await store({
        plan,
        home,
        guest_folder,
        started_at: new Date().toISOString(),
        never_boots: neverBoots,
        without_driver: withoutDriver,
      });
    },
    find: (allocationId) => readJson<VmDefinition>(definitionFile(allocationId)),
    async list() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
      const found = await Promise.all(names.map((name) => readJson<VmDefinition>(join(folder, name))));
      return found.filter((vm) => vm !== null);
    },
    async powerOn(vm) {
      if (await running(vm.plan.allocation_id)) return;
      await store({ ...vm, started_at: new Date().toISOString() });
      startGuest(definitionFile(vm.plan.allocation_id), vm, { powerFd, codeCache: join(dir, 'guest-code') });
      await pollUntil(POWER_ON_MS, async () => (await running(vm.plan.allocation_id)) !== null);
    },
    async stop(allocationId, timeoutMs, signal) {
      await signalUntilGone(running, allocationId, 'SIGTERM', timeoutMs, signal);
      if (!(await running(allocationId))) return 'graceful';
      await signalUntilGone(running, allocationId, 'SIGKILL', 5_000, signal);
      return 'forced';
    },
    async undefine(allocationId) {
      await rm(guestFolder(allocationId), { recursive: true, force: true });
      await removeDurable(definitionFile(allocationId));
    },
  };
  return vms;
}

async function pollUntil(deadlineMs: number, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await look()) && Date.now() < end) await pause(20);
}

/** Detached, like a QEMU under libvirt: it outlives the agent, but not the power of the machine. */
function startGuest(
  definitionFile: string,
  vm: VmDefinition,
  { powerFd, codeCache }: { powerFd: number | null; codeCache: string },
): void {
  mkdirSync(vm.guest_folder, { recursive: true, mode: 0o700 });
  const console = openSync(consoleFile(vm.guest_folder), 'a', 0o600);
  try {
    const args = ['--max-old-space-size=128', GUEST_MAIN, definitionFile, vm.plan.allocation_id];
    const guest = spawn(process.execPath, args, {
      detached: true,
      cwd: vm.guest_folder,
      stdio: ['ignore', console, console, powerFd ?? 'ignore'],
      env: {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        // Every guest runs the same code, and compiling it is most of what a start costs.
        NODE_COMPILE_CACHE: codeCache,
        ...(powerFd === null ? {} : { GPUAAS_SIM_POWER_FD: '3' }),
      },
    });
    guest.on('error', () => undefined);
    guest.unref();
  } finally {
    closeSync(console);
  }
}

async function signalUntilGone(
  running: SimulatedVms['running'],
  allocationId: string,
  name: 'SIGTERM' | 'SIGKILL',
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let sent = false;
  for (let run = await running(allocationId); run; run = await running(allocationId)) {
    if (!sent) process.kill(run.pid, name);
    sent = true;
    if (Date.now() > deadline) return;
    await pause(25, signal);
    signal.throwIfAborted();
  }
}
