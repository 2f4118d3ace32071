import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sleep } from '../../backoff.ts';
import { writeDurable } from '../../durable-file.ts';
import type { Logger } from '../../logger.ts';
import { writeSeed } from '../../slices/cloud-init-seed.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { disksWrittenBy, noteDisksToWrite } from '../../slices/written-disks.ts';
import { TaskError } from '../../tasks/task-error.ts';
import {
  GuestUnreachableError,
  type Host,
  type ObservedVm,
  type ReadinessResult,
  type HostOperation,
} from '../host.ts';
import { readConsole } from '../read-console.ts';
import { hostKeyFacts } from '../ssh-key-pair.ts';
import { checkDisk, checkPlan, type PlanCheck } from './check-plan.ts';
import { runOrThrow, type RunCommand } from './commands.ts';
import { dialGuest } from './guest/dial-guest.ts';
import { releaseHolders } from './disks/release-holders.ts';
import { requireUnusedDisk } from './disks/require-unused-disk.ts';
import { resolveDisk, type SlotDisk } from './disks/resolve-disk.ts';
import { verifyWipe } from './disks/verify-wipe.ts';
import { wipeDisk } from './disks/wipe-disk.ts';
import { awaitLease, verifyReadiness } from './guest/await-guest.ts';
import { FIRST_LOGIN, openGuestKeys } from './guest/guest-keys.ts';
import type { HostFiles } from './host-files.ts';
import { openImageCache } from './images/image-cache.ts';
import { writeImage } from './images/write-image.ts';
import { readHostDevices } from './inventory/inventory.ts';
import { NETWORK_PROFILES } from './network/profiles.ts';
import { addLeases } from './network/add-leases.ts';
import { openSliceNetwork } from './network/slice-network.ts';
import type { SlicePort } from './network/slice-ports.ts';
import type { LinuxSettings } from './settings.ts';
import { boundConsoleLogs } from './vm/bound-console-logs.ts';
import { domainName, planDigest } from './vm/domain.ts';
import { domainXml } from './vm/domain-xml.ts';
import { openLibvirt } from './vm/libvirt.ts';
import { localityOf } from './vm/locality-of.ts';
import { reconcileMachines } from './vm/reconcile-machines.ts';
import { recoverMachines } from './vm/recover-machines.ts';
import { machineProcesses } from './vm/machine-processes.ts';
import { openSliceRecord } from './vm/slice-record.ts';
import { listMachines, recordStart } from './vm/started-machines.ts';

export type SliceMachines = Pick<
  Host,
  | 'checkPlan'
  | 'runsAsPlanned'
  | 'cloneImage'
  | 'attachSeed'
  | 'startVm'
  | 'awaitNetwork'
  | 'awaitReadiness'
  | 'removeVm'
  | 'vmExists'
  | 'cleanNetwork'
  | 'requireUnusedDisk'
  | 'wipeDisk'
  | 'verifyWipe'
  | 'openGuestPort'
  | 'openConsoleLog'
  | 'reconcile'
  | 'setIngress'
> & {
  listVms(): Promise<ObservedVm[]>;
  /** After a boot of the host: restarts machines that ran before, and removes addresses without a lease. */
  recover(log: Logger, leased: ReadonlySet<string>): Promise<void>;
};

export interface MachineOptions {
  dir: string;
  bootId: string;
  files: HostFiles;
  run: RunCommand;
  settings: LinuxSettings;
}

const GONE_MS = 15_000;

/** The life of slice VMs on libvirt, Open vSwitch and raw NVMe disks. */
export function openSliceMachines({ dir, bootId, files, run, settings }: MachineOptions): SliceMachines {
  const libvirt = openLibvirt(run);
  const network = openSliceNetwork({ dir, bridge: settings.bridge, out: settings, files, run });
  const images = openImageCache({
    folder: join(dir, 'images'),
    sources: settings.imageSources,
    maxBytes: settings.imageCacheBytes,
  });
  const profile = NETWORK_PROFILES[settings.networkProfile];
  const recordOf = (allocationId: string) => openSliceRecord(dir, allocationId);
  const planCheck = ({ allocation_id }: VmPlan): PlanCheck => ({
    files,
    run,
    settings,
    libvirt,
    network,
    written: () => disksWrittenBy(dir, allocation_id),
  });

  async function disksOf(slots: VmPlan['slots']): Promise<SlotDisk[]> {
    const devices = await readHostDevices(files, run);
    return slots.map((slot) => resolveDisk(settings.root, devices, slot));
  }

  async function diskOf(slot: SlotBundle): Promise<SlotDisk> {
    return resolveDisk(settings.root, await readHostDevices(files, run), slot);
  }

  async function unusedDisk(slot: SlotBundle, isWritten: boolean): Promise<SlotDisk> {
    const disk = await diskOf(slot);
    await requireUnusedDisk({ root: settings.root, libvirt }, disk, null, isWritten);
    return disk;
  }

  async function domainFacts(plan: VmPlan, folder: string) {
    const { gpus } = await readHostDevices(files, run);
    const { boot_slot } = plan;
    const passthrough = plan.slots.flatMap((slot) => [slot.gpu_pci_address, slot.fabric_vf_pci_address]);
    const { accelerator, firmware, hugepages } = settings;
    return {
      name: domainName(plan.allocation_id),
      uuid: plan.allocation_id,
      planDigest: planDigest(plan),
      accelerator,
      firmware,
      hugepages,
      vcpu: plan.vcpu,
      memoryGib: plan.memory_gib,
      // An emulated processor is nowhere in particular.
      locality: accelerator === 'kvm' ? localityOf(files, gpus, plan.slots, plan.vcpu) : null,
      disks: await disksOf(plan.slots),
      seedIso: join(folder, 'seed.iso'),
      consoleLog: join(folder, 'console.log'),
      network: {
        bridge: settings.bridge,
        port: boot_slot.ovs_port,
        mac: boot_slot.management_mac,
        interfaceId: boot_slot.slot_id,
        offloads: await network.hasOffloads(),
        mtu: profile.mtu,
        queues: Math.min(profile.queues, plan.vcpu),
      },
      passthrough: settings.passthrough === 'vfio' ? passthrough : [],
    };
  }

  return {
    checkPlan: (plan) => checkPlan(planCheck(plan), plan),

    async runsAsPlanned(plan) {
      const name = domainName(plan.allocation_id);
      if ((await libvirt.state(name)) !== 'running') return false;
      return ((await libvirt.xml(name)) ?? '').includes(planDigest(plan));
    },

    async cloneImage(plan, step) {
      const record = recordOf(plan.allocation_id);
      if ((await record.read('image'))?.digest === plan.image.digest) return;
      await images.use(plan.image.digest, part(step, 0, 40), async (file) => {
        // The download may have taken minutes, and the disks may be in use since.
        const check = planCheck(plan);
        const disks = await disksOf(plan.slots);
        for (const disk of disks) await checkDisk(check, disk, plan);
        await noteDisksToWrite(
          dir,
          plan.allocation_id,
          disks.map(({ serial }) => serial),
        );
        await writeImage(run, file, await diskOf(plan.boot_slot), part(step, 40, 100));
      });
      await record.write('image', { digest: plan.image.digest });
    },

    async attachSeed(plan, step) {
      const { folder } = recordOf(plan.allocation_id);
      const keys = openGuestKeys(folder);
      await writeSeed(dir, plan, {
        hostKey: await keys.hostKey(),
        sysctls: profile.guestSysctls,
        firstLogin: `${(await keys.firstLogin()).public.trim().split(' ').slice(0, 2).join(' ')} ${FIRST_LOGIN}`,
      });
      const [iso, user, meta] = ['seed.iso', 'user-data.yaml', 'meta-data.yaml'].map((name) =>
        join(folder, name),
      );
      // QEMU runs as another user: it may pass through the folders, but not list them.
      for (const place of [dir, join(dir, 'slices'), folder]) await chmod(place, 0o711);
      const args = [iso ?? '', user ?? '', meta ?? ''];
      await runOrThrow(run, 'seed_failed', 'cloud-localds', args, { timeoutMs: 60_000, signal: step.signal });
    },

    async startVm(plan, step) {
      const record = recordOf(plan.allocation_id);
      const name = domainName(plan.allocation_id);
      const port = portOf(plan);
      // Stopped, half created, or created for another plan.
      if ((await libvirt.state(name)) !== null) {
        await libvirt.destroy(name);
        await libvirt.undefine(name);
      }
      await network.reserve(port);
      await writeFile(join(record.folder, 'console.log'), '', { mode: 0o600 });
      const file = join(record.folder, 'domain.xml');
      await writeDurable(file, domainXml(await domainFacts(plan, record.folder)));
      await libvirt.define(file);
      await libvirt.startPaused(name, step.signal);
      // Before its first instruction: no packet leaves the machine unfiltered.
      await network.guard(port);
      await libvirt.resume(name);
      await recordStart(record, plan.allocation_id, port.ip, bootId);
    },

    awaitNetwork: (plan, step) => awaitLease(network, plan, settings.guestDeadlineMs, step),

    async awaitReadiness(plan, step) {
      const record = recordOf(plan.allocation_id);
      const before = await record.read('ready');
      const { started_at } = await recordStart(record, plan.allocation_id, plan.boot_slot.private_ip, bootId);
      if (before?.started_at === started_at) return before;
      const keys = openGuestKeys(record.folder);
      const hostKey = await keys.hostKey();
      const login = {
        address: plan.boot_slot.private_ip,
        username: plan.username,
        privateKey: (await keys.firstLogin()).private,
        hostKey: hostKey.public,
      };
      const checked = await record.read('checked');
      const findings = {
        known: checked?.started_at === started_at ? checked.readiness : null,
        keep: (found: ReadinessResult[]) => record.write('checked', { started_at, readiness: found }),
      };
      const readiness = await verifyReadiness(login, plan, findings, settings.guestDeadlineMs, step);
      const facts = { ...hostKeyFacts(hostKey.public), started_at, readiness };
      await record.write('ready', facts);
      await keys.forgetFirstLogin();
      return facts;
    },

    async removeVm(allocationId, stopTimeoutSeconds, step) {
      const name = domainName(allocationId);
      const state = await libvirt.state(name);
      if (state === null) return 'absent';
      const running = state !== 'shut off';
      const followed = running && (await shutDown(name, stopTimeoutSeconds * 1000, step));
      if (running && !followed) await libvirt.destroy(name);
      await libvirt.undefine(name);
      await processGone(allocationId, step);
      return running && !followed ? 'forced' : 'graceful';
    },

    async vmExists(allocationId) {
      if ((await libvirt.state(domainName(allocationId))) !== null) return true;
      return machineProcesses().some((machine) => machine.allocation_id === allocationId);
    },

    async cleanNetwork(slots) {
      await network.remove(slots);
      return await network.residue(slots);
    },

    async requireUnusedDisk(slot, isWritten) {
      await unusedDisk(slot, isWritten);
    },
    async wipeDisk(slot, { method, isWritten }, step) {
      const disk = await unusedDisk(slot, isWritten);
      await releaseHolders(run, disk, step.signal);
      await wipeDisk(run, disk, method, step);
    },
    async verifyWipe(slot, depth, step) {
      return await verifyWipe(run, await diskOf(slot), depth, step);
    },

    async setIngress(allocationId, rules) {
      const port = (await network.ports()).find((one) => one.allocation_id === allocationId);
      if (!port) throw new TaskError('vm_missing', 'there is no machine of this allocation');
      await network.setIngress(port, rules);
      const leading = await network.ingress();
      return leading
        .filter(({ ip }) => ip === port.ip)
        .map(({ public_address, protocol, public_port, machine_port }) => {
          return { public_address, protocol, public_port, machine_port };
        });
    },

    async listVms() {
      await boundConsoleLogs(dir);
      return await addLeases(network, await listMachines(dir, bootId));
    },
    reconcile: (desired, inHand) =>
      reconcileMachines({ root: settings.root, files, run, libvirt, network, inHand }, desired),
    recover: (log, leased) => recoverMachines({ dir, bootId, libvirt, network, log, leased }),

    async openGuestPort(allocationId, port) {
      const address = (await recordOf(allocationId).read('started'))?.address;
      if (!address) throw new GuestUnreachableError('there is no machine of this allocation');
      return await dialGuest(address, port);
    },

    openConsoleLog: (allocationId) => readConsole(join(recordOf(allocationId).folder, 'console.log')),
  };

  /** Sends the ACPI power button repeatedly; a guest that is still booting misses the first one. */
  async function shutDown(name: string, timeoutMs: number, step: HostOperation): Promise<boolean> {
    const end = Date.now() + timeoutMs;
    let pressed = 0;
    while (Date.now() < end) {
      if (Date.now() - pressed > 5_000) {
        await libvirt.shutdown(name);
        pressed = Date.now();
      }
      const state = await libvirt.state(name);
      if (state === null || state === 'shut off') return true;
      await sleep(250, step.signal);
      step.signal.throwIfAborted();
    }
    return false;
  }

  async function processGone(allocationId: string, step: HostOperation): Promise<void> {
    const end = Date.now() + GONE_MS;
    while (machineProcesses().some((machine) => machine.allocation_id === allocationId)) {
      if (Date.now() > end) return;
      await sleep(100, step.signal);
      step.signal.throwIfAborted();
    }
  }
}

function portOf({ allocation_id, boot_slot }: VmPlan): SlicePort {
  const { management_mac: mac, private_ip: ip, ovs_port } = boot_slot;
  return { allocation_id, mac, ip, ovs_port };
}

function part(step: HostOperation, from: number, to: number): HostOperation {
  return {
    signal: step.signal,
    percent: (percent, message) => step.percent(from + (percent * (to - from)) / 100, message),
  };
}
