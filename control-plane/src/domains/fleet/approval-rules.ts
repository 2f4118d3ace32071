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
  field: keyof CandidateSlot;
  detail: string;
  holds(slot: CandidateSlot, context: ApprovalContext): boolean;
}[] = [
  {
    code: 'gpu_missing',
    field: 'gpu_pci_address',
    detail: 'has no GPU PCI address',
    holds: (s) => s.gpu_pci_address !== '',
  },
  {
    code: 'gpu_model_unknown',
    field: 'gpu_model',
    detail: 'has a GPU that no product is defined for',
    holds: (s, c) => c.products.has(s.gpu_model),
  },
  {
    code: 'fabric_vf_missing',
    field: 'fabric_vf_pci_address',
    detail: 'has no fabric VF of its own',
    holds: (s) => isText(s.fabric_vf_pci_address),
  },
  {
    code: 'nvme_missing',
    field: 'nvme_serial',
    detail: 'has no raw NVMe disk',
    holds: (s) => isText(s.nvme_serial) && isText(s.nvme_device),
  },
  {
    code: 'nvme_mounted',
    field: 'nvme_mounts',
    detail: 'has a disk that is mounted; end that use and unmount it first',
    holds: (s) => s.nvme_mounts.length === 0,
  },
  {
    code: 'nvme_foreign_filesystem',
    field: 'nvme_filesystems',
    detail: 'has file systems on its disk and no proof of a wipe is recorded; convert the disk first',
    holds: (s, c) =>
      (s.nvme_filesystems ?? []).length === 0 || isText(c.disks.get(s.nvme_serial ?? '')?.wipeProof),
  },
  {
    code: 'disk_not_slice_owned',
    field: 'nvme_serial',
    detail: 'has a disk that is meant for something else; convert it first',
    holds: (s, c) => ['slice', null, undefined].includes(c.disks.get(s.nvme_serial ?? '')?.ownership),
  },
  {
    code: 'management_mac_missing',
    field: 'management_mac',
    detail: 'has no management MAC',
    holds: (s) => s.management_mac !== '',
  },
  {
    code: 'private_ip_missing',
    field: 'private_ip',
    detail: 'has no private IP reservation',
    holds: (s) => s.private_ip !== '',
  },
];

/** What no two slots of a host may share. */
const uniqueFields: readonly { code: string; field: keyof SlotDevices; name: string }[] = [
  { code: 'gpu_shared', field: 'gpu_pci_address', name: 'GPU' },
  { code: 'fabric_vf_shared', field: 'fabric_vf_pci_address', name: 'fabric VF' },
  { code: 'nvme_shared', field: 'nvme_serial', name: 'disk' },
  { code: 'management_mac_shared', field: 'management_mac', name: 'MAC' },
  { code: 'private_ip_shared', field: 'private_ip', name: 'IP' },
];

/** Every miss of the request and of every candidate at once; empty means all of them may be approved. */
export function approvalMisses(
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): ApprovalMiss[] {
  const asked = requestRules
    .filter((rule) => !rule.holds(context))
    .map(({ pointer, code, detail }) => ({ pointer, code, detail }));
  return [...asked, ...candidates.flatMap((slot) => candidateMisses(slot, candidates, context))];
}

/** What a candidate lacks on its own account, whatever else is approved. */
export function ownMisses(slot: CandidateSlot, context: ApprovalContext): ApprovalMiss[] {
  return candidateRules
    .filter((rule) => !rule.holds(slot, context))
    .map((rule) => missOf(slot, rule.field, rule.code, rule.detail));
}

function candidateMisses(
  slot: CandidateSlot,
  candidates: readonly CandidateSlot[],
  context: ApprovalContext,
): ApprovalMiss[] {
  const rivals = [...candidates.filter((other) => other !== slot), ...context.approved];
  const shared = uniqueFields
    .filter(({ field }) => isText(slot[field]) && rivals.some((other) => other[field] === slot[field]))
    .map(({ code, field, name }) => missOf(slot, field, code, `shares its ${name} with another slot`));
  const neighbours = [...candidates, ...context.discovered];
  const group = neighbours.some(
    (other) => other.slot_index !== slot.slot_index && other.iommu_group === slot.iommu_group,
  )
    ? [missOf(slot, 'iommu_group', 'iommu_group_shared', 'shares its IOMMU group with another GPU')]
    : [];
  return [...ownMisses(slot, context), ...shared, ...group];
}

function missOf(slot: CandidateSlot, field: string, code: string, detail: string): ApprovalMiss {
  return {
    pointer: `/candidates/${slot.slot_index}/${field}`,
    code,
    detail: `Slot ${slot.slot_index} ${detail}.`,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
