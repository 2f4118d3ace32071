import type { Duplex, Readable } from 'node:stream';
import type { IngressRule, SlotBundle, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
import type { Heartbeat } from '../control-plane.ts';
import type { VmPlan } from '../slices/plan-vm.ts';

/** The ear of a long host operation: it stops when the signal fires and tells how far it is. */
export interface Step {
  signal: AbortSignal;
  percent(percent: number, message?: string): void;
}

export type Topology = TaskOutput['slice.topology_discover'];
export type PrereqDemand = TaskParams['slice.prereq_check'];
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

export type DesiredMachine = TaskParams['slice.reconcile']['machines'][number];
export type Finding = TaskOutput['slice.reconcile']['findings'][number];
export interface SlotsInHand {
  allocation_id: string;
  slots: readonly SlotBundle[];
}

export interface WipeProof {
  verified: boolean;
  verification: string;
  /** What wiped and what read back. */
  tools: { name: string; version: string }[];
}

/**
 * Everything the agent asks of a machine and its hypervisor. Each operation may be repeated after a crash:
 * done work is recognised and not done again. Refusals are `TaskError`s.
 */
export interface Host {
  /** Changes exactly when the machine was powered off or rebooted. */
  readonly bootId: string;
  discoverTopology(step: Step): Promise<Topology>;
  /** Whether this machine is ready for slices under the demanded profile; changes nothing. */
  checkPrerequisites(demand: PrereqDemand, step: Step): Promise<PrereqReport>;

  /** GPUs and disks as they are at this moment. */
  observeDevices(): Promise<ObservedDevices>;

  /** Refuses a plan that this machine cannot carry, before anything is created. */
  checkPlan(plan: VmPlan): Promise<void>;
  /** The VM runs with exactly this plan. */
  runsAsPlanned(plan: VmPlan): Promise<boolean>;
  cloneImage(plan: VmPlan, step: Step): Promise<void>;
  /** Writes the cloud-init seed below `slices/`, ready for the machine to read. */
  attachSeed(plan: VmPlan, step: Step): Promise<void>;
  startVm(plan: VmPlan, step: Step): Promise<void>;
  awaitNetwork(plan: VmPlan, step: Step): Promise<NetworkLease>;
  /** Answers when a login would work, with what each check of the image found inside the guest. */
  awaitReadiness(plan: VmPlan, step: Step): Promise<GuestFacts>;

  /** Stops and removes the VM; absent is fine. Asks first, forces after the timeout. */
  removeVm(allocationId: string, stopTimeoutSeconds: number, step: Step): Promise<StopKind>;
  vmExists(allocationId: string): Promise<boolean>;
  /** Removes leases, ports and mappings of the slots; answers what of them can still be seen. */
  cleanNetwork(slots: readonly SlotBundle[], step: Step): Promise<string[]>;
  /**
   * Resets what the machine had in its hands and scrubs GPU memory where that is asked for, by slot id. Nothing is
   * answered for a slot whose devices never left the host.
   */
  resetDevices(slots: readonly SlotBundle[], step: Step): Promise<ReadonlyMap<string, DeviceReset>>;
  wipeDisk(slot: SlotBundle, method: WipeMethod, step: Step): Promise<void>;
  /** Reads the disk again; never takes the wipe's word for it. */
  verifyWipe(slot: SlotBundle, step: Step): Promise<WipeProof>;

  /** Gives the whole machine to one user, with root only where it is asked for; answers when its login would work. */
  addUser(user: HostUser, step: Step): Promise<UserFacts>;
  /** Ends what the user runs, then removes it and its files; absent is fine. */
  removeUser(
    user: Pick<HostUser, 'allocation_id' | 'username'>,
    stopTimeoutSeconds: number,
    step: Step,
  ): Promise<void>;
  /** What of the user is still there; looks for itself. */
  findLeftovers(user: Pick<HostUser, 'allocation_id' | 'username'>, step: Step): Promise<string[]>;

  /** Binds GPUs and fabric devices for slices or for the host; answers what it saw afterwards. */
  setMode(mode: TaskParams['node.set_mode']['mode'], step: Step): Promise<string>;

  /**
   * Lets exactly these ports of public addresses lead to the machine, and answers what the host's rules say afterwards.
   * Refuses for a machine that is not here.
   */
  setIngress(allocationId: string, rules: readonly IngressRule[], step: Step): Promise<IngressRule[]>;

  /**
   * Where this host and what should run on it disagree; looks only. What belongs to slots in somebody's hands is nobody's
   * orphan; they are asked for last, because work begins while we look.
   */
  reconcile(
    desired: readonly DesiredMachine[],
    inHand: () => readonly SlotsInHand[],
    step: Step,
  ): Promise<Finding[]>;

  /** Machines of tenants that this host knows: its VMs, and the lease of the whole host. */
  listVms(): Promise<ObservedVm[]>;
  /** A byte stream to a port of the guest; a `GuestUnreachableError` when there is none. */
  openGuestPort(allocationId: string, port: number): Promise<Duplex>;
  /** The end of what the guest wrote to its serial console, oldest first; a `GuestUnreachableError` without one. */
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
