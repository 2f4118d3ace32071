import { hostname as osHostname } from 'node:os';
import { TaskError } from '../../tasks/task-error.ts';
import type { Host, ObservedVm } from '../host.ts';
import { checkPrerequisites } from './check-prerequisites.ts';
import { runCommand, type RunCommand } from './commands.ts';
import { dialGuest } from './dial-guest.ts';
import { discoverTopology } from './discover-topology.ts';
import { watchGpuFaults } from './gpu-health.ts';
import { openHostFiles } from './host-files.ts';
import { observeDevices } from './observe-devices.ts';
import { readLinuxSettings, type LinuxSettings } from './settings.ts';
import { openSliceMachines, type SliceMachines } from './slice-machines.ts';
import { addUser } from './users/add-user.ts';
import { openLeaseUsers, type LeaseUser } from './users/lease-user.ts';
import { findLeftovers, removeUser } from './users/remove-user.ts';

export interface LinuxHostOptions {
  settings: LinuxSettings;
  run: RunCommand;
  hostname: string;
  /** The agent's state folder. */
  dir: string;
}

export type LinuxHost = Host & Pick<SliceMachines, 'recover'>;

/** The machine the agent runs on. */
export function openLinuxHost(options: Partial<LinuxHostOptions> = {}): LinuxHost {
  const { settings = readLinuxSettings({}), run = runCommand, hostname = osHostname() } = options;
  const { dir = '/var/lib/gpuaas' } = options;
  const files = openHostFiles(settings.root);
  const gpuFaults = watchGpuFaults(run);
  const bootId = files.text('/proc/sys/kernel/random/boot_id') ?? 'unknown';
  const machines = openSliceMachines({ dir, bootId, files, run, settings });
  const users = openLeaseUsers(dir);
  return {
    bootId,
    discoverTopology: () => discoverTopology(files, run, hostname),
    checkPrerequisites: (demand) => checkPrerequisites(files, run, demand, settings.accelerator),
    observeDevices: async () => observeDevices(files, run, await gpuFaults()),
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
    setMode: refuse,
  };
}

/** A host that is leased as a whole is served as long as the agent can say so. */
function asMachine({ allocation_id, started_at }: LeaseUser): ObservedVm {
  return { allocation_id, state: 'running', started_at };
}

function refuse(): Promise<never> {
  const detail = 'this agent does not rebind the devices of a real host; an operator does, with bootstrap';
  return Promise.reject(new TaskError('mode_refused', detail));
}
