import { readdir, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { sleep } from '../../backoff.ts';
import { ensureFolder, isErrno, readJson, removeDurable, writeDurable } from '../../durable-file.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { GuestUnreachableError } from '../host.ts';
import { gpuUseFile } from './guest/gpu-use.ts';
import { isGuestAlive, readRunFile, type RunFile } from './guest/run-file.ts';
import {
  dialThroughHypervisor,
  sendToHypervisor,
  createHypervisorStarter,
  type HypervisorRequest,
} from './hypervisor/send-to-hypervisor.ts';
import { findHypervisor, isOurProcess } from './hypervisor/hypervisor-file.ts';

/** The hypervisor's record of a VM; the VM powers on with the host. */
export interface VmDefinition {
  plan: VmPlan;
  home: string;
  guest_folder: string;
  started_at: string;
  never_boots: boolean;
  /** The image starts without the GPU driver that it promises. */
  without_driver: boolean;
}

export interface SimulatedVms {
  define(
    plan: VmPlan,
    options: { home: string; neverBoots?: boolean; withoutDriver?: boolean },
  ): Promise<VmDefinition>;
  find(allocationId: string): Promise<VmDefinition | null>;
  list(): Promise<VmDefinition[]>;
  /** Starts the guest unless it runs, and waits until it can be seen; answers whether it had to be started. */
  powerOn(vm: VmDefinition): Promise<boolean>;
  /** The run file of a living guest. */
  running(allocationId: string): Promise<RunFile | null>;
  /** A connection to a port in the guest's network; throws `GuestUnreachableError` with the reason. */
  dial(allocationId: string, port: number): Promise<Socket>;
  /** Percent of each GPU of the guest, as its `nvidia-smi` shows it. */
  gpuUse(allocationId: string): Promise<number[]>;
  /** Requests a shutdown and forces it after the timeout; returns whether it was forced. */
  stop(allocationId: string, timeoutMs: number, signal: AbortSignal): Promise<'graceful' | 'forced'>;
  undefine(allocationId: string): Promise<void>;
  /** Ends all VMs without a shutdown. */
  cutPower(): Promise<void>;
}

const POWER_ON_MS = 10_000;
const POWER_OFF_MS = 5_000;

export async function openVms(dir: string, powerFd: number | null): Promise<SimulatedVms> {
  const folder = join(dir, 'vms');
  await ensureFolder(folder);
  const definitionFile = (allocationId: string): string => join(folder, `${allocationId}.json`);
  const guestFolder = (allocationId: string): string => join(folder, allocationId);
  const startHypervisor = createHypervisorStarter(dir, powerFd);
  const request = (ask: 'power_on' | 'power_off', allocation_id: string): HypervisorRequest => ({
    ask,
    allocation_id,
    definition_file: definitionFile(allocation_id),
  });

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
      const { allocation_id } = vm.plan;
      const dying = async (): Promise<boolean> => {
        const run = await running(allocation_id);
        return run !== null && !isOurProcess(run.hypervisor_pid, dir);
      };
      // Guests end soon after their hypervisor, but not in the same moment.
      await pollUntil(POWER_OFF_MS, async () => !(await dying()));
      if (await running(allocation_id)) return false;
      await store({ ...vm, started_at: new Date().toISOString() });
      // An idle hypervisor may end during the call; the next attempt reaches a new one.
      await pollUntil(POWER_ON_MS, async () => {
        const hypervisor = await startHypervisor();
        if (hypervisor) await sendToHypervisor(hypervisor, request('power_on', allocation_id));
        return (await running(allocation_id)) !== null;
      });
      return true;
    },
    async dial(allocationId, port) {
      const hypervisor = await findHypervisor(dir);
      if (!hypervisor) throw new GuestUnreachableError('there is no running VM of this allocation');
      return await dialThroughHypervisor(hypervisor, { ask: 'dial', allocation_id: allocationId, port });
    },
    async gpuUse(allocationId) {
      if (!(await running(allocationId))) return [];
      const file = gpuUseFile(join(guestFolder(allocationId), 'system'));
      const text = await readFile(file, 'utf8').catch(() => '');
      return text.trim().split('\n').map(Number);
    },
    async stop(allocationId, timeoutMs, signal) {
      const hypervisor = timeoutMs > 0 ? await findHypervisor(dir) : null;
      if (hypervisor)
        await Promise.race([
          sendToHypervisor(hypervisor, request('power_off', allocationId)),
          sleep(timeoutMs, signal),
        ]);
      signal.throwIfAborted();
      const run = await running(allocationId);
      if (!run) return 'graceful';
      killProcess(run.pid);
      // The hypervisor removes the file when all processes of the guest have ended.
      await pollUntil(POWER_OFF_MS, async () => {
        const left = await readRunFile(guestFolder(allocationId));
        return left === null || !isOurProcess(left.hypervisor_pid, dir);
      });
      return 'forced';
    },
    async undefine(allocationId) {
      await rm(guestFolder(allocationId), { recursive: true, force: true });
      await removeDurable(definitionFile(allocationId));
    },
    async cutPower() {
      const hypervisor = await findHypervisor(dir);
      if (hypervisor) killProcess(hypervisor.pid);
      const isOff = async (): Promise<boolean> => {
        const runs = (await vms.list()).map(({ plan }) => running(plan.allocation_id));
        return (await findHypervisor(dir)) === null && (await Promise.all(runs)).every((run) => run === null);
      };
      await pollUntil(POWER_OFF_MS, isOff);
    },
  };
  return vms;
}

async function pollUntil(deadlineMs: number, poll: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await poll()) && Date.now() < end) await sleep(20);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It may have ended since the check.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
