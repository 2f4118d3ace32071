import type { TaskOutput } from '@gpuaas/contracts/tasks';
import type { CordonReason } from '../nodes/cordons.ts';
import type { ObservedNode } from './record-heartbeat.ts';
import type { ApprovedSlot, TopologyDifference } from '../topology/topology-drift.ts';

export type Readiness = TaskOutput['slice.prereq_check'];

export interface ConditionInput {
  slots: readonly ApprovedSlot[];
  /** The last heartbeat; devices that it does not list were not checked. */
  observed: ObservedNode;
  /** The latest discovery against the slots. */
  drift: readonly TopologyDifference[];
  /** The latest prerequisite check of a host in slice mode; null without one. */
  readiness?: Readiness | null;
  /** Processors and memory that slots were approved with and the latest discovery did not find. */
  capacityLosses?: readonly string[];
  agentVersion: string | null;
  /** As major × 10000 + minor × 100 + patch. */
  minimumAgentVersion: number;
}

export interface NodeConditions {
  /** Device faults by slot id. */
  slotFaults: Map<string, string>;
  cordons: Map<CordonReason, string>;
  missing: { slot_index: number; device: string }[];
  failing: { slot_index: number; device: string; detail: string }[];
}

const MISSING_KINDS = new Set<TopologyDifference['kind']>([
  'gpu_missing',
  'fabric_vf_missing',
  'disk_missing',
]);

/** Slot faults and cordon reasons that follow from a host's evidence; a pure function. */
export function nodeConditions(input: ConditionInput): NodeConditions {
  const { slots } = input;
  const missing = slots.flatMap((slot) =>
    missingDevices(slot, input).map((device) => ({ slot_index: slot.slot_index, device })),
  );
  const failing = slots.flatMap((slot) => failingGpu(slot, input.observed));
  const slotFaults = new Map<string, string>();
  for (const slot of slots) {
    const lost = missing.filter((entry) => entry.slot_index === slot.slot_index);
    const ill = failing.find((entry) => entry.slot_index === slot.slot_index);
    const fault =
      lost.length > 0
        ? `Missing: ${lost.map((entry) => entry.device).join(', ')}.`
        : ill
          ? `Failing: ${ill.device}: ${ill.detail}`
          : unfitness(slot, input);
    if (fault) slotFaults.set(slot.id, fault);
  }
  return { slotFaults, cordons: cordonsFor(input, missing, failing), missing, failing };
}

function missingDevices(slot: ApprovedSlot, { observed, drift }: ConditionInput): string[] {
  const undiscovered = drift
    .filter((difference) => difference.slot_id === slot.id && MISSING_KINDS.has(difference.kind))
    // For the devices it lists, the heartbeat is newer than the discovery.
    .filter(({ kind }) => !(kind === 'gpu_missing' && observed.gpus))
    .filter(({ kind }) => !(kind === 'disk_missing' && observed.disks))
    .map(({ kind, approved }) => `${kind === 'gpu_missing' ? 'GPU ' : ''}${approved ?? kind}`);
  const gpu = observed.gpus?.find((candidate) => candidate.pci_address === slot.gpu_pci_address);
  const disk = observed.disks?.find((candidate) => candidate.serial === slot.nvme_serial);
  return [
    ...(observed.gpus && (!gpu || gpu.state === 'lost') ? [`GPU ${slot.gpu_pci_address}`] : []),
    ...(observed.disks && !disk && !slot.isWholeNodeUnit ? [`disk ${slot.nvme_serial}`] : []),
    ...undiscovered,
  ];
}

/** Why a slot must not be leased although its devices are present and healthy. */
function unfitness(slot: ApprovedSlot, { observed, drift }: ConditionInput): string | null {
  const own = drift.filter((difference) => difference.slot_id === slot.id);
  const disk = observed.disks?.find((candidate) => candidate.serial === slot.nvme_serial);
  const mounts =
    disk?.mounts ??
    own.flatMap((difference) => (difference.kind === 'disk_mounted' ? difference.observed : []));
  if (mounts.length > 0 && !slot.isWholeNodeUnit)
    return `Mounted: disk ${slot.nvme_serial} on ${mounts.join(', ')}.`;
  const leftOut = own.find(({ kind }) => kind === 'gpu_left_out');
  if (leftOut) return `Unfit: GPU ${slot.gpu_pci_address}: ${leftOut.observed ?? 'no longer proposed'}.`;
  const unbound = own.find(({ kind }) => kind === 'driver_changed');
  if (unbound)
    return `Unbound: GPU ${slot.gpu_pci_address} is bound to ${unbound.observed}, not to vfio-pci.`;
  const changed = own.find(
    ({ kind, approved }) => kind === 'binding_changed' && approved?.startsWith('gpu_model '),
  );
  return changed ? `Changed: ${changed.observed}, approved was ${changed.approved}.` : null;
}

function failingGpu(slot: ApprovedSlot, observed: ObservedNode): NodeConditions['failing'] {
  const gpu = observed.gpus?.find((candidate) => candidate.pci_address === slot.gpu_pci_address);
  if (gpu?.state !== 'failing') return [];
  const device = `GPU ${slot.gpu_pci_address}`;
  return [{ slot_index: slot.slot_index, device, detail: gpu.detail ?? 'no detail given' }];
}

function cordonsFor(
  input: ConditionInput,
  missing: NodeConditions['missing'],
  failing: NodeConditions['failing'],
): Map<CordonReason, string> {
  const cordons = new Map<CordonReason, string>();
  const lostGpus = missing.filter(({ device }) => device.startsWith('GPU '));
  if (lostGpus.length > 0) {
    const names = lostGpus.map(({ device }) => device).join(', ');
    cordons.set(
      'gpu_missing',
      `${lostGpus.length} of ${input.slots.length} approved GPUs are missing: ${names}`,
    );
  }
  if (failing.length > 0) {
    cordons.set('gpu_unhealthy', failing.map(({ device, detail }) => `${device}: ${detail}`).join('; '));
  }
  const misses = [...missedPrerequisites(input.readiness), ...(input.capacityLosses ?? [])];
  if (misses.length > 0) cordons.set('not_ready', `Not ready for slices: ${misses.join('; ')}`);
  const version = versionNumber(input.agentVersion);
  if (version !== null && version < input.minimumAgentVersion) {
    cordons.set('agent_outdated', `The agent ${input.agentVersion} is older than the policy allows.`);
  }
  return cordons;
}

/** Checks that failed, each with its evidence. */
export function missedPrerequisites(readiness: Readiness | null | undefined): string[] {
  if (!readiness) return [];
  const misses = readiness.checks
    .filter(({ state }) => state === 'missing' || state === 'unknown')
    .map(({ id, evidence }) => `${id}: ${evidence}`);
  if (misses.length > 0) return misses;
  if (readiness.reboot_required) return ['reboot_required: a change waits for a reboot'];
  return readiness.ready ? [] : ['the host gave no reason'];
}

/** `1.2.3` as 10203; null for an invalid version, which proves nothing either way. */
export function versionNumber(version: string | null): number | null {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version ?? '');
  if (!parts) return null;
  return Number(parts[1]) * 10_000 + Number(parts[2]) * 100 + Number(parts[3]);
}
