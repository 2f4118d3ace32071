import { hostname as osHostname } from 'node:os';
import { TaskError } from '../../tasks/task-error.ts';
import type { Host } from '../host.ts';
import { checkPrerequisites } from './check-prerequisites.ts';
import { runCommand, type RunCommand } from './commands.ts';
import { discoverTopology } from './discover-topology.ts';
import { watchGpuFaults } from './gpu-health.ts';
import { openHostFiles } from './host-files.ts';
import { observeDevices } from './observe-devices.ts';
import { readLinuxSettings, type LinuxSettings } from './settings.ts';
import { openSliceMachines } from './slice-machines.ts';

export interface LinuxHostOptions {
  settings: LinuxSettings;
  run: RunCommand;
  hostname: string;
  /** The agent's state folder. */
  dir: string;
}

/** The machine the agent runs on. */
export function openLinuxHost(options: Partial<LinuxHostOptions> = {}): Host {
  const { settings = readLinuxSettings({}), run = runCommand, hostname = osHostname() } = options;
  const { dir = '/var/lib/gpuaas' } = options;
  const files = openHostFiles(settings.root);
  const gpuFaults = watchGpuFaults(run);
  return {
    bootId: files.text('/proc/sys/kernel/random/boot_id') ?? 'unknown',
    discoverTopology: () => discoverTopology(files, run, hostname),
    checkPrerequisites: (demand) => checkPrerequisites(files, run, demand, settings.accelerator),
    observeDevices: async () => observeDevices(files, run, await gpuFaults()),
    ...openSliceMachines({ dir, files, run, settings }),
    addUser: refuse,
    removeUser: refuse,
    findLeftovers: refuse,
    setMode: refuse,
  };
}

function refuse(): Promise<never> {
  const detail = 'this agent runs slices on real hosts, but does not lease them as a whole yet';
  return Promise.reject(new TaskError('host_lease_missing', detail));
}
