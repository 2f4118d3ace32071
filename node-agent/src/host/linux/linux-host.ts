import { hostname as osHostname } from 'node:os';
import { TaskError } from '../../tasks/task-error.ts';
import { GuestUnreachableError, type Host } from '../host.ts';
import { checkPrerequisites } from './check-prerequisites.ts';
import { runCommand, type RunCommand } from './commands.ts';
import { discoverTopology } from './discover-topology.ts';
import { watchGpuFaults } from './gpu-health.ts';
import { openHostFiles } from './host-files.ts';
import { observeDevices } from './observe-devices.ts';

export interface LinuxHostOptions {
  /** `/`, or a built tree in tests. */
  root: string;
  run: RunCommand;
  hostname: string;
}

/** The machine the agent runs on. It looks and tells; slices on it are refused until their runtime is there. */
export function openLinuxHost(options: Partial<LinuxHostOptions> = {}): Host {
  const { root = '/', run = runCommand, hostname = osHostname() } = options;
  const files = openHostFiles(root);
  const gpuFaults = watchGpuFaults(run);
  return {
    bootId: files.text('/proc/sys/kernel/random/boot_id') ?? 'unknown',
    discoverTopology: () => discoverTopology(files, run, hostname),
    checkPrerequisites: (demand) => checkPrerequisites(files, run, demand),
    observeDevices: async () => observeDevices(files, run, await gpuFaults()),
    listVms: () => Promise.resolve([]),
    vmExists: () => Promise.resolve(false),
    runsAsPlanned: () => Promise.resolve(false),
    checkPlan: refuse,
    cloneImage: refuse,
    attachSeed: refuse,
    startVm: refuse,
    awaitNetwork: refuse,
    awaitReadiness: refuse,
    removeVm: refuse,
    cleanNetwork: refuse,
    addUser: refuse,
    removeUser: refuse,
    findLeftovers: refuse,
    setMode: refuse,
    wipeDisk: refuse,
    verifyWipe: refuse,
    openGuestPort: () => Promise.reject(new GuestUnreachableError('this host runs no slices')),
  };
}

function refuse(): Promise<never> {
  const detail = 'this agent discovers and checks real hosts, but does not run slices on them yet';
  return Promise.reject(new TaskError('slice_runtime_missing', detail));
}
