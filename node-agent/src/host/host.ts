import type { Duplex, Readable } from 'node:stream';
import type { IngressRule, SlotBundle, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
import type { Heartbeat } from '../control-plane.ts';
import type { VmPlan } from '../slices/plan-vm.ts';

/** Cancellation and progress of a long host operation. */
export interface HostOperation {
  signal: AbortSignal;
  percent(percent: number, message?: string): void;
}

export type Topology = TaskOutput['slice.topology_discover'];
export type PrereqRequirements = TaskParams['slice.prereq_check'];
export type PrereqReport = TaskOutput['slice.prereq_check'];
export type PrereqCheck = PrereqReport['checks'][number];
export type NetworkLease = TaskOutput['slice.vm_provision']['network'];
export type ReadinessResult = TaskOutput['slice.vm_provision']['readiness'][number];
export type HostUser = Pick<
  TaskParams['allocation.provision_user'],
  'allocation_id' | 'hostname' | 'username' | 'ssh_authorized_keys' | 'root'
>;
/** How a machine ended: it was not there, it followed the request, or it was forced. */
export type StopKind = TaskOutput['slice.vm_release']['stop'];
export type ObservedVm = Heartbeat['vms'][number];

export interface ObservedDevices {
  gpus: NonNullable<Heartbeat['gpus']>;
  disks: NonNullable<Heartbeat['disks']>;
}

export type WipeMethod = TaskParams['slice.vm_release']['wipe_method'];
/** How much of a large disk is read back. */
export type VerificationDepth = NonNullable<TaskParams['slice.vm_release']['verification']>;

export interface DiskWipe {
  method: WipeMethod;
  isWritten: boolean;
}

export type DesiredMachine = TaskParams['slice.reconcile']['machines'][number];
export type Finding = TaskOutput['slice.reconcile']['findings'][number];
export interface SlotsBeingChanged {
  allocation_id: string;
  slots: readonly SlotBundle[];
}

export interface WipeProof {
  verified: boolean;
  verification: string;
  /** Tools that wiped the disk and read it back. */
  tools: { name: string; version: string }[];
}

/**
 * Everything the agent needs from a machine and its hypervisor. Each operation may be repeated after a crash:
 * it recognises finished work and skips it. Refusals are `TaskError`s.
 */
export interface Host {
  /** Changes exactly when the machine was powered off or rebooted. */
  readonly bootId: string;
  discoverTopology(step: HostOperation): Promise<Topology>;
  /** Checks whether this machine meets the profile's requirements for slices; changes nothing. */
  checkPrerequisites(demand: PrereqRequirements, step: HostOperation): Promise<PrereqReport>;

  /** GPUs and disks as they are at this moment. */
  observeDevices(): Promise<ObservedDevices>;

  /** Refuses a plan that this machine cannot carry, before anything is created. */
  checkPlan(plan: VmPlan): Promise<void>;
  /** The VM runs with exactly this plan. */
  runsAsPlanned(plan: VmPlan): Promise<boolean>;
  cloneImage(plan: VmPlan, step: HostOperation): Promise<void>;
  /** Writes the cloud-init seed below `slices/`, ready for the machine to read. */
  attachSeed(plan: VmPlan, step: HostOperation): Promise<void>;
  startVm(plan: VmPlan, step: HostOperation): Promise<void>;
  awaitNetwork(plan: VmPlan, step: HostOperation): Promise<NetworkLease>;
  /** Returns when a login would work, with the result of each image check inside the guest. */
  awaitReadiness(plan: VmPlan, step: HostOperation): Promise<GuestFacts>;

  /**
   * Stops and removes the VM; succeeds when there is none. Requests a shutdown first, forces it after the
   * timeout.
   */
  removeVm(allocationId: string, stopTimeoutSeconds: number, step: HostOperation): Promise<StopKind>;
  vmExists(allocationId: string): Promise<boolean>;
  /** Removes leases, ports and mappings of the slots; returns those that are still visible. */
  cleanNetwork(slots: readonly SlotBundle[], step: HostOperation): Promise<string[]>;
  /**
   * Resets the devices that the machine used and scrubs GPU memory where requested, by slot id. Slots whose
   * devices never left the host are omitted.
   */
  resetDevices(slots: readonly SlotBundle[], step: HostOperation): Promise<ReadonlyMap<string, DeviceReset>>;
  /**
   * Refuses a disk that the host, a machine or a process uses. `isWritten`: the lease wrote it, so what is assembled from
   * it is the tenant's data and no use by the host.
   */
  requireUnusedDisk(slot: SlotBundle, isWritten: boolean): Promise<void>;
  wipeDisk(slot: SlotBundle, wipe: DiskWipe, step: HostOperation): Promise<void>;
  /** Reads the disk again, independently of the wipe's own result. */
  verifyWipe(slot: SlotBundle, depth: VerificationDepth, step: HostOperation): Promise<WipeProof>;

  /** Gives the whole machine to one user, with root only if requested; returns when its login would work. */
  addUser(user: HostUser, step: HostOperation): Promise<UserFacts>;
  /** Ends the user's processes, then removes the user and its files; succeeds when there is no such user. */
  removeUser(
    user: Pick<HostUser, 'allocation_id' | 'username'>,
    stopTimeoutSeconds: number,
    step: HostOperation,
  ): Promise<void>;
  /** Searches the machine for anything that is left of the user. */
  findLeftovers(user: Pick<HostUser, 'allocation_id' | 'username'>, step: HostOperation): Promise<string[]>;

  /** Binds GPUs and fabric devices for slices or for the host; returns the bindings observed afterwards. */
  setMode(mode: TaskParams['node.set_mode']['mode'], step: HostOperation): Promise<string>;

  /**
   * Forwards exactly these ports of public addresses to the machine, and returns the host's rules as read
   * afterwards. Refuses if the machine is not on this host.
   */
  setIngress(
    allocationId: string,
    rules: readonly IngressRule[],
    step: HostOperation,
  ): Promise<IngressRule[]>;

  /**
   * Differences between this host and the machines that should run on it; changes nothing. Resources of slots
   * that a task is changing are not orphans; those slots are read last, because a task may start during the
   * scan.
   */
  reconcile(
    desired: readonly DesiredMachine[],
    inHand: () => readonly SlotsBeingChanged[],
    step: HostOperation,
  ): Promise<Finding[]>;

  /** Tenant machines on this host: its VMs, and the lease of the whole host. */
  listVms(): Promise<ObservedVm[]>;
  /** A byte stream to a port of the guest; throws `GuestUnreachableError` if nothing listens there. */
  openGuestPort(allocationId: string, port: number): Promise<Duplex>;
  /**
   * The last part of the guest's serial console, oldest first; throws `GuestUnreachableError` without one.
   */
  openConsoleLog(allocationId: string): Promise<Readable>;
}

export interface DeviceReset {
  done: boolean;
  evidence: string;
}

export interface GuestFacts {
  host_key_fingerprint: string;
  host_public_key?: string;
  started_at: string;
  readiness: ReadinessResult[];
}

export interface UserFacts {
  host_key_fingerprint: string;
  host_public_key?: string;
  started_at: string;
  address: string | null;
}

export class GuestUnreachableError extends Error {}
