import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../backoff.ts';
import { ensureFolder, isErrno, readJson, removeDurable, writeDurable } from '../../durable-file.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { isGuestAlive, readRunFile, type RunFile } from './guest/run-file.ts';
import { askHypervisor, hypervisorStarter, type HypervisorRequest } from './hypervisor/ask-hypervisor.ts';
import { findHypervisor, isProcess } from './hypervisor/hypervisor-file.ts';

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
  /** Starts the guest unless it runs, and waits until it can be seen. */
  powerOn(vm: VmDefinition): Promise<void>;
  /** Where the hypervisor keeps what belongs to a VM. */
  folderOf(allocationId: string): string;
  /** The run file of a living guest. */
  running(allocationId: string): Promise<RunFile | null>;
  /** Asks first and forces after the timeout; answers whether it had to. */
  stop(allocationId: string, timeoutMs: number, signal: AbortSignal): Promise<'graceful' | 'forced'>;
  undefine(allocationId: string): Promise<void>;
  /** Nobody on the machine gets to say goodbye. */
  cutPower(): Promise<void>;
}

const POWER_ON_MS = 10_000;
const POWER_OFF_MS = 5_000;

export async function openVms(dir: string, powerFd: number | null): Promise<SimulatedVms> {
  const folder = join(dir, 'vms');
  await ensureFolder(folder);
  const definitionFile = (allocationId: string): string => join(folder, `${allocationId}.json`);
  const guestFolder = (allocationId: string): string => join(folder, allocationId);
  const startHypervisor = hypervisorStarter(dir, powerFd);
  const request = (ask: HypervisorRequest['ask'], allocation_id: string): HypervisorRequest => ({
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
    folderOf: guestFolder,
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
      if (await running(allocation_id)) return;
      await store({ ...vm, started_at: new Date().toISOString() });
      // A hypervisor with nothing to do may end while it is asked; the next one is asked again.
      await pollUntil(POWER_ON_MS, async () => {
        const hypervisor = await startHypervisor();
        if (hypervisor) await askHypervisor(hypervisor, request('power_on', allocation_id));
        return (await running(allocation_id)) !== null;
      });
    },
    async stop(allocationId, timeoutMs, signal) {
      const hypervisor = timeoutMs > 0 ? await findHypervisor(dir) : null;
      if (hypervisor)
        await Promise.race([
          askHypervisor(hypervisor, request('power_off', allocationId)),
          pause(timeoutMs, signal),
        ]);
      signal.throwIfAborted();
      const run = await running(allocationId);
      if (!run) return 'graceful';
      killProcess(run.pid);
      // The hypervisor takes the file away when nothing of the guest runs any more.
      await pollUntil(POWER_OFF_MS, async () => {
        const left = await readRunFile(guestFolder(allocationId));
        return left === null || !isProcess(left.hypervisor_pid, dir);
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

async function pollUntil(deadlineMs: number, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await look()) && Date.now() < end) await pause(20);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It may have ended since we looked.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
