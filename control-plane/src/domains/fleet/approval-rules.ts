import type { CandidateSlot } from '@gpuaas/contracts/tasks';

export interface ApprovalMiss {
  /** JSON pointer: into the discovery for what a candidate lacks, into the request for what was asked. */
  pointer: string;
  code: string;
  detail: string;
}

/** What identifies the devices of a slot on its host. */
export type SlotDevices = Pick<
  CandidateSlot,
  'slot_index' | 'gpu_pci_address' | 'fabric_vf_pci_address' | 'nvme_serial' | 'management_mac' | 'private_ip'
>;

export interface ApprovalContext {
  mode: string;
  fabricClaimMode: string;
  destructiveWipePolicy: string;
  /** GPU models that a product is defined for. */
  products: ReadonlySet<string>;
  /** Disks that somebody has said something about, by serial. */
  disks: ReadonlyMap<string, { ownership: string | null; wipeProof: string | null }>;
  /** Slots of the host that are not up for approval now. */
  approved: readonly SlotDevices[];
  /** All that the discovery proposes: a GPU shares its IOMMU group whether or not the other one is asked for. */
  discovered: readonly Pick<CandidateSlot, 'slot_index' | 'iommu_group'>[];
}

/** Each thing the request itself must bring. */
const requestRules: readonly {
  code: string;
  pointer: string;
  detail: string;
  holds(context: ApprovalContext): boolean;
}[] = [
  {
    code: 'node_not_in_slice_mode',
    pointer: '',
    detail: 'The host is in baremetal mode.',
    holds: (c) => c.mode === 'slice',
  },
  {
    code: 'fabric_not_per_slot',
    pointer: '/fabric_claim_mode',
    detail: 'Only per_slot_vf can be sold: shared fabric would be sold twice.',
    holds: (c) => c.fabricClaimMode === 'per_slot_vf',
  },
  {
    code: 'wipe_policy_missing',
    pointer: '/destructive_wipe_policy',
    detail: 'Say how the disk is wiped between tenants.',
    holds: (c) => c.destructiveWipePolicy !== '',
  },
];

/** Each thing a candidate must meet before it may be sold; a miss names itself and the field. */
const candidateRules: readonly {
  code: string;
  /** What holds when the rule is kept. */
  name: string;
  field: keyof CandidateSlot;
  detail: string;
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
    detail: 'has no fabric VF of its own',
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
      (s.nvme_filesystems ?? []).length === 0 || isText(c.disks.get(s.nvme_serial ?? '')?.wipeProof),
  },
  {
    code: 'disk_not_slice_owned',
    name: 'The disk is meant for slices',
    field: 'nvme_serial',
    detail: 'has a disk that is meant for something else; convert it first',
    holds: (s, c) => ['slice', null, undefined].includes(c.disks.get(s.nvme_serial ?? '')?.ownership),
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

/** What no two slots of a host may share. */
const uniqueFields: readonly { code: string; field: keyof SlotDevices; device: string }[] = [
  { code: 'gpu_shared', field: 'gpu_pci_address', device: 'GPU' },
  { code: 'fabric_vf_shared', field: 'fabric_vf_pci_address', device: 'fabric VF' },
  { code: 'nvme_shared', field: 'nvme_serial', device: 'disk' },
  { code: 'management_mac_shared', field: 'management_mac', device: 'MAC' },
  { code: 'private_ip_shared', field: 'private_ip', device: 'IP' },
];

/** Every miss of the request and of every candidate at once; empty means all of them may be approved. */
export function approvalMisses(
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): ApprovalMiss[] {
  const asked = requestRules
    .filter((rule) => !rule.holds(context))
    .map(({ pointer, code, detail }) => ({ pointer, code, detail }));
  return [
    ...asked,
    ...candidates.flatMap((slot) =>
      judgeCandidate(slot, candidates, context).flatMap((verdict) => missOf(slot, verdict)),
    ),
  ];
}

/** How a candidate stands with one rule. */
export interface Verdict {
  code: string;
  name: string;
  field: string;
  /** What is wrong; null when the rule is kept. */
  breach: string | null;
}

/** Every rule a candidate must keep, among those it is approved with. */
export function judgeCandidate(
  slot: CandidateSlot,
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): Verdict[] {
  const rivals = [...candidates.filter((other) => other !== slot), ...context.approved];
  const shared = uniqueFields.map(({ code, field, device }) => ({
    code,
    name: `Shares its ${device} with no slot`,
    field,
    breach:
      isText(slot[field]) && rivals.some((other) => other[field] === slot[field])
        ? breachOf(slot, `shares its ${device} with another slot`)
        : null,
  }));
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

/** The rules that a candidate keeps or breaks on its own account, whatever else is approved. */
function judgeAlone(slot: CandidateSlot, context: ApprovalContext): Verdict[] {
  return candidateRules.map(({ code, name, field, detail, holds }) => ({
    code,
    name,
    field,
    breach: holds(slot, context) ? null : breachOf(slot, detail),
  }));
}

export function ownMisses(slot: CandidateSlot, context: ApprovalContext): ApprovalMiss[] {
  return judgeAlone(slot, context).flatMap((verdict) => missOf(slot, verdict));
}

function missOf(slot: CandidateSlot, { field, code, breach }: Verdict): ApprovalMiss[] {
  return breach === null
    ? []
    : [{ pointer: `/candidates/${slot.slot_index}/${field}`, code, detail: breach }];
}

function breachOf(slot: CandidateSlot, detail: string): string {
  return `Slot ${slot.slot_index} ${detail}.`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
