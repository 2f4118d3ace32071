import { hostname as osHostname } from 'node:os';
import { openSlotLeases } from '../../slot-leases.ts';
import type { Logger } from '../../logger.ts';
import type { Host, ObservedVm } from '../host.ts';
import { checkPrerequisites } from './prerequisites/check-prerequisites.ts';
import { runCommand, type RunCommand } from './commands.ts';
import { saveDeviceBindings } from './devices/device-bindings.ts';
import { resetDevices } from './devices/reset-devices.ts';
import { restoreDevices } from './devices/restore-devices.ts';
import { setMode } from './devices/set-mode.ts';
import { writeBelow, type WriteAttribute } from './devices/sysfs.ts';
import { dialGuest } from './guest/dial-guest.ts';
import { discoverTopology } from './topology/discover-topology.ts';
import { cachedGpuFaults } from './health/gpu-health.ts';
import { cachedGpuUse } from './health/gpu-use.ts';
import { openHostFiles } from './host-files.ts';
import { observeDevices } from './health/observe-devices.ts';
import { readLinuxSettings, type LinuxSettings } from './settings.ts';
import { openSliceMachines } from './slice-machines.ts';
import { addUser } from './users/add-user.ts';
import { openLeaseUsers, type LeaseUser } from './users/lease-user.ts';
import { findLeftovers, removeUser } from './users/remove-user.ts';

export interface LinuxHostOptions {
  settings: LinuxSettings;
  run: RunCommand;
  /** Writes device attributes; tests pass a fake kernel. */
  write: WriteAttribute;
  hostname: string;
  /** The agent's state folder. */
  dir: string;
}

export type LinuxHost = Host & {
  /** After a boot: devices, network and machines as they were. */
  recover(log: Logger): Promise<void>;
};

/** The machine the agent runs on. */
export function openLinuxHost(options: Partial<LinuxHostOptions> = {}): LinuxHost {
  const { settings = readLinuxSettings({}), run = runCommand, hostname = osHostname() } = options;
  const { dir = '/var/lib/gpuaas' } = options;
  const files = openHostFiles(settings.root);
  const sysfs = { files, write: options.write ?? writeBelow(settings.root) };
  const passesDevices = settings.passthrough === 'vfio';
  const gpuFaults = cachedGpuFaults(run);
  const gpuUse = cachedGpuUse(files, run);
  const bootId = files.text('/proc/sys/kernel/random/boot_id') ?? 'unknown';
  const machines = openSliceMachines({ dir, bootId, files, run, settings });
  const users = openLeaseUsers(dir);
  return {
    bootId,
    discoverTopology: () => discoverTopology(files, run, hostname),
    checkPrerequisites: (demand) => checkPrerequisites(files, run, demand, settings),
    observeDevices: async () => observeDevices(files, run, await gpuFaults(), gpuUse),
    ...machines,
    addUser: (user, step) => addUser({ run, users }, user, step),
    removeUser: (user, seconds, step) => removeUser({ run, files, users }, user, seconds, step),
    findLeftovers: (user) => findLeftovers({ run, files, users }, user),
    async listVms() {
      return [...(await machines.listVms()), ...(await users.list()).map(asMachine)];
    },
    async openGuestPort(allocationId, port) {
      const tenant = await users.find(allocationId);
      return tenant ? await dialGuest('127.0.0.1', port) : await machines.openGuestPort(allocationId, port);
    },
    setMode: (mode, step) =>
      passesDevices
        ? setMode({ sysfs, run, dir, root: settings.root }, mode, step)
        : Promise.resolve('machines on this host get no devices, so none were bound'),
    resetDevices: (slots, step) =>
      passesDevices
        ? resetDevices({ sysfs, run, scrubCommand: settings.scrubCommand }, slots, step)
        : Promise.resolve(new Map()),
    async startVm(plan, step) {
      if (passesDevices) await saveDeviceBindings({ sysfs, run, dir });
      await machines.startVm(plan, step);
    },
    async recover(log) {
      if (passesDevices) await restoreDevices({ sysfs, run, dir, log });
      const leases = await (await openSlotLeases(dir)).list();
      await machines.recover(log, new Set(leases.map(({ allocation_id }) => allocation_id)));
    },
  };
}

/** A host that is leased as a whole counts as served while the agent can report. */
function asMachine({ allocation_id, started_at }: LeaseUser): ObservedVm {
  return { allocation_id, state: 'running', started_at };
}
