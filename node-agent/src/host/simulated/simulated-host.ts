import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sleep } from '../../backoff.ts';
import type { AgentConfig } from '../../config.ts';
import type { Logger } from '../../logger.ts';
import { writeSeed } from '../../slices/cloud-init-seed.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { disksWrittenBy, noteDisksToWrite } from '../../slices/written-disks.ts';
import { TaskError } from '../../tasks/task-error.ts';
import { compareIngress } from '../compare-ingress.ts';
import { GuestUnreachableError, type Host, type ObservedVm, type HostOperation } from '../host.ts';
import { checkDevices } from '../linux/check-devices.ts';
import { refuseHostUse } from '../linux/disks/require-unused-disk.ts';
import { findDisk } from '../linux/disks/resolve-disk.ts';
import type { HostFiles } from '../linux/host-files.ts';
import { readHostDevices } from '../linux/inventory/inventory.ts';
import { addLeases } from '../linux/network/add-leases.ts';
import { checkPrerequisites } from '../linux/prerequisites/check-prerequisites.ts';
import { discoverTopology } from '../linux/topology/discover-topology.ts';
import { currentBootId } from './boot-id.ts';
import { openDisks, type DiskLayout } from './disks.ts';
import type { HasFault } from './faults.ts';
import { checkReadiness } from './guest/check-readiness.ts';
import { readConsole } from '../read-console.ts';
import { hostKeyFacts } from '../ssh-key-pair.ts';
import { consoleFile } from './guest/console-log.ts';
import { ensureHostKey } from './guest/host-key.ts';
import { describeHardware } from './hardware.ts';
import { openMemoryFiles } from './host-tree/memory-files.ts';
import { readMode, writeMode } from './mode-file.ts';
import { openNetwork } from './network.ts';
import { observeSimulatedDevices } from './observe-devices.ts';
import { createPace } from './pace.ts';
import { simulatedTools } from './simulated-tools.ts';
import { simulatedTree } from './simulated-tree.ts';
import { openUsers, wholeMachinePlan } from './users.ts';
import { openVms, type VmDefinition } from './vms.ts';

const CLONE_MS = 6_000;
const SLOW_CLONE_MS = 20_000;
const BOOT_MS = 4_000;
const WIPE_MS = 3_000;
const GUEST_DEADLINE_MS = 30_000;
const SWITCH_OFF_MS = 10_000;
const SSH_PORT = 22;

/** An HGX H200 machine with simulated hardware and hypervisor; everything else is real. */
export async function openSimulatedHost(config: AgentConfig, hasFault: HasFault, log: Logger): Promise<Host> {
  const { dir, hostname, simulation } = config;
  const hardware = describeHardware(hostname);
  const pace = createPace(simulation.speed);
  const disks = openDisks(dir);
  const network = openNetwork(dir);
  const users = openUsers(dir);
  const vms = await openVms(dir, simulation.powerFd);
  const bootId = await currentBootId(dir, simulation.bootId);

  const defined = await vms.list();
  await Promise.all(
    defined.map(async (vm) => {
      if (!(await vms.powerOn(vm))) return;
      log.info({ allocation_id: vm.plan.allocation_id }, 'VM powered on with the host');
    }),
  );

  async function definitionOf(plan: VmPlan): Promise<VmDefinition> {
    const vm = await vms.find(plan.allocation_id);
    if (!vm) throw new TaskError('vm_missing', 'the VM is not defined on this host');
    return vm;
  }

  /** What the kernel of the machine shows at this moment. */
  async function kernelFiles(): Promise<HostFiles> {
    const layouts = new Map<string, DiskLayout>();
    for (const { nvme_serial } of hardware.slots) {
      const layout = await disks.layout(nvme_serial);
      if (layout) layouts.set(nvme_serial, layout);
    }
    return openMemoryFiles(simulatedTree(hardware, await readMode(dir), hasFault, layouts));
  }

  return {
    bootId,

    async discoverTopology(step) {
      await pace.spend(1_500, step);
      return await discoverTopology(await kernelFiles(), simulatedTools, hostname);
    },

    async checkPrerequisites(demand, step) {
      await pace.spend(800, step);
      return await checkPrerequisites(await kernelFiles(), simulatedTools, demand);
    },

    async observeDevices() {
      const use = (await vms.list()).map(async ({ plan }) => {
        const percent = await vms.gpuUse(plan.allocation_id);
        return plan.slots.map((slot, index) => [slot.gpu_pci_address, percent[index] || 0] as const);
      });
      return observeSimulatedDevices(hardware, hasFault, new Map((await Promise.all(use)).flat()));
    },

    async checkPlan(plan) {
      const files = await kernelFiles();
      const devices = await readHostDevices(files, simulatedTools);
      checkDevices(files, devices, plan.slots);
      const written = await disksWrittenBy(dir, plan.allocation_id);
      for (const slot of plan.slots) {
        const isWritten = written.has(slot.nvme_serial);
        refuseHostUse(slot.nvme_serial, findDisk(devices, slot).use, isWritten);
        if (isWritten || (await disks.label(slot.nvme_serial)) === null) continue;
        throw new TaskError('disk_not_clean', `disk ${slot.nvme_serial} still carries data of another use`);
      }
    },

    async runsAsPlanned(plan) {
      const vm = await vms.find(plan.allocation_id);
      if (!vm || !(await vms.running(plan.allocation_id))) return false;
      return JSON.stringify(vm.plan) === JSON.stringify(plan);
    },

    async cloneImage(plan, step) {
      const image = `${plan.image.name}@${plan.image.digest}`;
      const boot = plan.boot_slot.nvme_serial;
      const present = await disks.label(boot);
      if (present === null || present === 'foreign' || present.image !== image) {
        // Noted and labelled before the first byte: a crash must not leave a disk that looks blank.
        await noteDisksToWrite(
          dir,
          plan.allocation_id,
          plan.slots.map((slot) => slot.nvme_serial),
        );
        await disks.write(boot, { allocation_id: plan.allocation_id, image: null });
        if (hasFault('slow_clone')) await createPace(1).spend(SLOW_CLONE_MS, step);
        else await pace.spend(CLONE_MS, step);
        await disks.write(boot, { allocation_id: plan.allocation_id, image });
      }
      for (const { nvme_serial } of plan.slots.slice(1)) {
        await disks.write(nvme_serial, { allocation_id: plan.allocation_id, image: null });
      }
    },

    async attachSeed(plan, step) {
      await writeSeed(dir, plan);
      await pace.spend(300, step);
    },

    async startVm(plan, step) {
      const stale = await vms.find(plan.allocation_id);
      if (stale) await vms.stop(plan.allocation_id, 2_000, step.signal);
      const home = disks.homeFolder(plan.boot_slot.nvme_serial);
      const vm = await vms.define(plan, {
        home,
        neverBoots: hasFault('vm_never_boots'),
        withoutDriver: hasFault('driver_missing'),
      });
      await ensureHostKey(vm.guest_folder);
      await network.plug(plan.boot_slot, plan.allocation_id);
      await vms.powerOn(vm);
      await pace.spend(BOOT_MS, step);
    },

    async awaitNetwork(plan, step) {
      const { management_mac: mac, private_ip: expected_ip } = plan.boot_slot;
      const { never_boots } = await definitionOf(plan);
      const deadline = never_boots ? pace.inVainMs(GUEST_DEADLINE_MS) : GUEST_DEADLINE_MS;
      const port = await waitFor(deadline, step, () => sshPort(plan.allocation_id));
      await pace.spend(800, step);
      return port === null
        ? { mac, expected_ip, actual_ip: null, lease_state: 'missing' as const }
        : { mac, expected_ip, actual_ip: expected_ip, lease_state: 'bound' as const };
    },

    async awaitReadiness(plan, step) {
      const greeting = await waitFor(GUEST_DEADLINE_MS, step, () => sshGreeting(plan.allocation_id));
      if (greeting === null) throw new TaskError('guest_not_ready', 'SSH of the guest does not answer');
      await pace.spend(500, step);
      const vm = await definitionOf(plan);
      const readiness = await checkReadiness(vm.guest_folder, plan);
      return {
        ...hostKeyFacts(await ensureHostKey(vm.guest_folder)),
        started_at: vm.started_at,
        readiness: [{ check: 'ssh', passed: true, evidence: greeting.trim().slice(0, 100) }, ...readiness],
      };
    },

    async removeVm(allocationId, stopTimeoutSeconds, step) {
      const running = await vms.running(allocationId);
      const stop = running ? await vms.stop(allocationId, stopTimeoutSeconds * 1000, step.signal) : 'absent';
      // A machine that is being switched on may not be seen yet.
      if (!running) await vms.stop(allocationId, SWITCH_OFF_MS, step.signal);
      if (await vms.running(allocationId)) return stop;
      if (running) await pace.spend(1_500, step);
      await vms.undefine(allocationId);
      return stop;
    },

    async cleanNetwork(slots, step) {
      if (!hasFault('network_residue')) await network.unplug(slots);
      await pace.spend(300, step);
      return await network.residue(slots);
    },

    async vmExists(allocationId) {
      return (await vms.running(allocationId)) !== null || (await vms.find(allocationId)) !== null;
    },

    async resetDevices(slots, step) {
      await pace.spend(300, step);
      return new Map(
        slots.map(({ slot_id, gpu_pci_address, fabric_vf_pci_address }) => [
          slot_id,
          {
            done: true,
            evidence: `${fabric_vf_pci_address} reset by flr; ${gpu_pci_address} reset by flr`,
          },
        ]),
      );
    },

    requireUnusedDisk,
    async wipeDisk(slot, { isWritten }, step) {
      await requireUnusedDisk(slot, isWritten);
      await disks.wipe(slot.nvme_serial, { leaveResidue: hasFault('wipe_fails') });
      await pace.spend(WIPE_MS, step);
    },

    async verifyWipe(slot, _depth, step) {
      await pace.spend(700, step);
      return await disks.verifyBlank(slot.nvme_serial);
    },

    async addUser(user, step) {
      // Tenants get a contained shell without privileges; there is no root to grant.
      if (user.root) throw new TaskError('root_refused', 'a simulated host has no root to give');
      const plan = wholeMachinePlan(user, hardware);
      const known = await vms.find(user.allocation_id);
      if (!known || JSON.stringify(known.plan) !== JSON.stringify(plan)) {
        await vms.define(plan, { home: await users.make(user.username) });
      }
      const vm = await definitionOf(plan);
      await ensureHostKey(vm.guest_folder);
      await vms.powerOn(vm);
      await pace.spend(1_000, step);
      const greeting = await waitFor(GUEST_DEADLINE_MS, step, () => sshGreeting(user.allocation_id));
      if (greeting === null) throw new TaskError('login_not_ready', 'SSH of the host does not answer');
      return {
        ...hostKeyFacts(await ensureHostKey(vm.guest_folder)),
        started_at: (await definitionOf(plan)).started_at,
        address: plan.boot_slot.private_ip,
      };
    },

    async removeUser(user, stopTimeoutSeconds, step) {
      if (await vms.running(user.allocation_id)) {
        await vms.stop(user.allocation_id, stopTimeoutSeconds * 1000, step.signal);
      }
      await pace.spend(1_000, step);
      if (await vms.running(user.allocation_id)) return;
      await vms.undefine(user.allocation_id);
      await users.remove(user.username, { leaveResidue: hasFault('wipe_fails') });
    },

    async findLeftovers(user, step) {
      await pace.spend(500, step);
      const running = (await vms.running(user.allocation_id)) !== null;
      return [...(running ? ['a process of the tenant'] : []), ...(await users.left(user.username))];
    },

    async setMode(mode, step) {
      await pace.spend(2_000, step);
      await writeMode(dir, mode);
      const driver = mode === 'slice' ? 'vfio-pci' : 'nvidia';
      return `${hardware.slots.length} GPUs are bound to ${driver}`;
    },

    async setIngress(allocationId, rules, step) {
      if ((await network.ingress(allocationId)) === null)
        throw new TaskError('vm_missing', 'there is no machine of this allocation');
      await network.setIngress(allocationId, rules);
      await pace.spend(200, step);
      return (await network.ingress(allocationId)) ?? [];
    },

    async reconcile(desired) {
      const wanted = new Set(desired.map(({ allocation_id }) => allocation_id));
      const running = await Promise.all(
        desired.map(async ({ allocation_id }) => ({ allocation_id, run: await vms.running(allocation_id) })),
      );
      const missing = running.filter(({ run }) => run === null);
      const orphans = (await vms.list()).filter(({ plan }) => !wanted.has(plan.allocation_id));
      const leading = await Promise.all(
        desired.map(async ({ allocation_id, ingress }) =>
          ingress ? compareIngress(allocation_id, ingress, (await network.ingress(allocation_id)) ?? []) : [],
        ),
      );
      return [
        ...leading.flat(),
        ...missing.map(({ allocation_id }) => {
          const evidence = 'no machine of this allocation runs';
          return { subject: 'machine' as const, state: 'missing' as const, allocation_id, evidence };
        }),
        ...orphans.map(({ plan: { allocation_id } }) => {
          const evidence = 'a machine that the platform does not name';
          return { subject: 'machine' as const, state: 'orphan' as const, allocation_id, evidence };
        }),
      ];
    },

    async listVms(): Promise<ObservedVm[]> {
      const known = await vms.list();
      const machines = known.map(async ({ plan: { allocation_id }, started_at }) => ({
        allocation_id,
        state: (await vms.running(allocation_id)) ? ('running' as const) : ('stopped' as const),
        started_at,
      }));
      return await addLeases(network, await Promise.all(machines));
    },

    async openGuestPort(allocationId, port) {
      const run = await vms.running(allocationId);
      if (!run?.ssh_port) throw new GuestUnreachableError('there is no running VM of this allocation');
      if (port === SSH_PORT) return await dial(run.ssh_port);
      return await vms.dial(allocationId, port);
    },

    async openConsoleLog(allocationId) {
      const vm = await vms.find(allocationId);
      if (!vm) throw new GuestUnreachableError('there is no VM of this allocation');
      return await readConsole(consoleFile(vm.guest_folder));
    },
  };

  async function requireUnusedDisk({ nvme_serial }: SlotBundle, isWritten: boolean): Promise<void> {
    const known = (await readHostDevices(await kernelFiles(), simulatedTools)).disks.find(
      ({ serial }) => serial === nvme_serial,
    );
    if (!known) throw new TaskError('disk_unknown', `there is no data disk ${nvme_serial} in this host`);
    refuseHostUse(nvme_serial, known.use, isWritten);
    for (const { plan } of await vms.list()) {
      if (!plan.slots.some((used) => used.nvme_serial === nvme_serial)) continue;
      const detail = `disk ${nvme_serial} is used by the VM of ${plan.allocation_id}`;
      throw new TaskError('disk_in_use', detail);
    }
  }

  async function sshPort(allocationId: string): Promise<number | null> {
    return (await vms.running(allocationId))?.ssh_port ?? null;
  }

  async function sshGreeting(allocationId: string): Promise<string | null> {
    const port = await sshPort(allocationId);
    if (port === null) return null;
    try {
      const socket = await dial(port);
      const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(2_000) })) as [Buffer];
      socket.destroy();
      return chunk.toString('latin1').startsWith('SSH-2.0-') ? chunk.toString('latin1') : null;
    } catch {
      return null;
    }
  }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(5_000) });
    return socket;
  } catch {
    socket.destroy();
    throw new GuestUnreachableError('the guest does not accept the connection');
  }
}

async function waitFor<T>(
  deadlineMs: number,
  step: HostOperation,
  poll: () => Promise<T | null>,
): Promise<T | null> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const found = await poll();
    if (found !== null || Date.now() > end) return found;
    await sleep(50, step.signal);
    step.signal.throwIfAborted();
  }
}
