import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { serialKey } from '../disks/serial-key.ts';
import type { DeviceHistory } from './device-history.ts';

export interface ApprovalViolation {
  /** JSON pointer: into the discovery for a fault of a candidate, into the request for a fault of the request. */
  pointer: string;
  code: string;
  detail: string;
}

/** Identifies the devices of a slot on its host. */
export type SlotDevices = Pick<
  CandidateSlot,
  | 'slot_index'
  | 'gpu_pci_address'
  | 'gpu_serial'
  | 'fabric_vf_pci_address'
  | 'nvme_serial'
  | 'management_mac'
  | 'private_ip'
>;

export interface ApprovalContext extends DeviceHistory {
  mode: string | null;
  fabricClaimMode: string;
  destructiveWipePolicy: string;
  /** GPU models that a product is defined for. */
  products: ReadonlySet<string>;
  /** Disks with a recorded use, by the key of a serial. */
  disks: ReadonlyMap<string, { ownership: string | null; wipeProof: string | null }>;
  /** Slots of the host outside this approval. */
  approved: readonly SlotDevices[];
  /**
   * Everything that the discovery proposes: a GPU shares its IOMMU group whether or not the request names the
   * other one.
   */
  discovered: readonly Pick<CandidateSlot, 'slot_index' | 'iommu_group'>[];
}

/** Rules for the request itself. */
const requestRules: readonly {
  code: string;
  pointer: string;
  detail: string;
  holds(context: ApprovalContext): boolean;
}[] = [
  {
    code: 'node_not_in_slice_mode',
    pointer: '',
    detail: 'The host is not in slice mode; convert it to slices.',
    holds: (c) => c.mode === 'slice',
  },
  {
    code: 'fabric_not_per_slot',
    pointer: '/fabric_claim_mode',
    detail: 'Only per_slot_vf is supported: a shared fabric cannot be sold twice.',
    holds: (c) => c.fabricClaimMode === 'per_slot_vf',
  },
  {
    code: 'wipe_policy_missing',
    pointer: '/destructive_wipe_policy',
    detail: 'Choose how the disk is wiped between tenants.',
    holds: (c) => c.destructiveWipePolicy !== '',
  },
];

/** Rules that a candidate must meet before it may be sold; a violation names the rule and the field. */
const candidateRules: readonly {
  code: string;
  /** Text for a rule that is met. */
  name: string;
  field: keyof CandidateSlot;
  detail: string | ((slot: CandidateSlot, context: ApprovalContext) => string);
  holds(slot: CandidateSlot, context: ApprovalContext): boolean;
}[] = [
  {
    code: 'gpu_missing',
    name: 'Has a GPU',
    field: 'gpu_pci_address',
    detail: 'has no GPU PCI address',
    holds: (s) => s.gpu_pci_address !== '',
  },
  {
    code: 'gpu_model_unknown',
    name: 'A product is sold with its GPU',
    field: 'gpu_model',
    detail: 'has a GPU that no product is defined for',
    holds: (s, c) => c.products.has(s.gpu_model),
  },
  {
    code: 'fabric_vf_missing',
    name: 'Has a fabric function',
    field: 'fabric_vf_pci_address',
    detail: 'has no dedicated fabric VF',
    holds: (s) => isText(s.fabric_vf_pci_address),
  },
  {
    code: 'nvme_missing',
    name: 'Has a disk',
    field: 'nvme_serial',
    detail: 'has no raw NVMe disk',
    holds: (s) => isText(s.nvme_serial) && isText(s.nvme_device),
  },
  {
    code: 'nvme_mounted',
    name: 'The disk is not mounted',
    field: 'nvme_mounts',
    detail: 'has a disk that is mounted; end that use and unmount it first',
    holds: (s) => s.nvme_mounts.length === 0,
  },
  {
    code: 'nvme_foreign_filesystem',
    name: 'The disk is empty or proven wiped',
    field: 'nvme_filesystems',
    detail: 'has file systems on its disk and no proof of a wipe is recorded; convert the disk first',
    holds: (s, c) =>
      (s.nvme_filesystems ?? []).length === 0 ||
      isText(c.disks.get(serialKey(s.nvme_serial ?? ''))?.wipeProof),
  },
  {
    code: 'disk_not_slice_owned',
    name: 'The disk is assigned to slices',
    field: 'nvme_serial',
    detail: 'has a disk assigned to another use; convert it first',
    holds: (s, c) =>
      ['slice', null, undefined].includes(c.disks.get(serialKey(s.nvme_serial ?? ''))?.ownership),
  },
  {
    code: 'disk_not_proven_clean',
    name: 'The disk carries no data of an earlier lease',
    field: 'nvme_serial',
    detail: (s, c) => `has disk ${s.nvme_serial}, which ${c.unproven.get(serialKey(s.nvme_serial ?? ''))}`,
    holds: (s, c) => !c.unproven.has(serialKey(s.nvme_serial ?? '')),
  },
  {
    code: 'gpu_not_proven_clean',
    name: 'The GPU carries no data of an earlier lease',
    field: 'gpu_serial',
    detail: (s, c) => `has GPU ${s.gpu_serial}, which ${c.unproven.get(serialKey(s.gpu_serial ?? ''))}`,
    holds: (s, c) => !c.unproven.has(serialKey(s.gpu_serial ?? '')),
  },
  {
    code: 'management_mac_missing',
    name: 'Has a MAC',
    field: 'management_mac',
    detail: 'has no management MAC',
    holds: (s) => s.management_mac !== '',
  },
  {
    code: 'private_ip_missing',
    name: 'Has a private IP',
    field: 'private_ip',
    detail: 'has no private IP reservation',
    holds: (s) => s.private_ip !== '',
  },
];

/** Devices that no two slots of a host may share; disks and GPUs with a serial must be unique in the fleet. */
const uniqueFields: readonly { code: string; field: keyof SlotDevices; device: string }[] = [
  { code: 'gpu_shared', field: 'gpu_pci_address', device: 'GPU' },
  { code: 'gpu_serial_shared', field: 'gpu_serial', device: 'GPU serial' },
  { code: 'fabric_vf_shared', field: 'fabric_vf_pci_address', device: 'fabric VF' },
  { code: 'nvme_shared', field: 'nvme_serial', device: 'disk' },
  { code: 'management_mac_shared', field: 'management_mac', device: 'MAC' },
  { code: 'private_ip_shared', field: 'private_ip', device: 'IP' },
];

/** All violations of the request and of every candidate; empty if all of them may be approved. */
export function approvalViolations(
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): ApprovalViolation[] {
  const asked = requestRules
    .filter((rule) => !rule.holds(context))
    .map(({ pointer, code, detail }) => ({ pointer, code, detail }));
  return [
    ...asked,
    ...candidates.flatMap((slot) =>
      checkCandidate(slot, candidates, context).flatMap((verdict) => missOf(slot, verdict)),
    ),
  ];
}

/** Result of one rule for a candidate. */
export interface RuleResult {
  code: string;
  name: string;
  field: string;
  /** The violation; null if the rule is met. */
  breach: string | null;
}

/** Results of every rule for a candidate, together with the others of the approval. */
export function checkCandidate(
  slot: CandidateSlot,
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): RuleResult[] {
  const rivals = [...candidates.filter((other) => other !== slot), ...context.approved];
  const shared = uniqueFields.map(({ code, field, device }) => {
    const value = slot[field];
    const there = isText(value) ? context.elsewhere.get(serialKey(value)) : undefined;
    const near = isText(value) && rivals.some((other) => isSame(other[field], value));
    const detail = there ? `has ${device} ${value}, as ${there} does; disable that slot first` : null;
    const breach = near ? `shares its ${device} with another slot` : detail;
    return {
      code,
      name: `Shares its ${device} with no slot`,
      field,
      breach: breach === null ? null : breachOf(slot, breach),
    };
  });
  const alone = [...candidates, ...context.discovered].every(
    (other) => other.slot_index === slot.slot_index || other.iommu_group !== slot.iommu_group,
  );
  const group = {
    code: 'iommu_group_shared',
    name: 'Is alone in its IOMMU group',
    field: 'iommu_group',
    breach: alone ? null : breachOf(slot, 'shares its IOMMU group with another GPU'),
  };
  return [...judgeAlone(slot, context), ...shared, group];
}

/** Rules about the candidate alone, independent of the others of the approval. */
function judgeAlone(slot: CandidateSlot, context: ApprovalContext): RuleResult[] {
  return candidateRules.map(({ code, name, field, detail, holds }) => ({
    code,
    name,
    field,
    breach: holds(slot, context)
      ? null
      : breachOf(slot, typeof detail === 'string' ? detail : detail(slot, context)),
  }));
}

export function candidateViolations(slot: CandidateSlot, context: ApprovalContext): ApprovalViolation[] {
  return judgeAlone(slot, context).flatMap((verdict) => missOf(slot, verdict));
}

function missOf(slot: CandidateSlot, { field, code, breach }: RuleResult): ApprovalViolation[] {
  return breach === null
    ? []
    : [{ pointer: `/candidates/${slot.slot_index}/${field}`, code, detail: breach }];
}

function breachOf(slot: CandidateSlot, detail: string): string {
  return `Slot ${slot.slot_index} ${detail}.`;
}

/** Addresses and serials have several spellings. */
function isSame(one: unknown, other: string): boolean {
  return isText(one) && serialKey(one) === serialKey(other);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
