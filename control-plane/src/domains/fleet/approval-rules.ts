import type { CandidateSlot } from '@gpuaas/contracts/tasks';

export interface ApprovalMiss {
  slotIndex: number;
  code: string;
  detail: string;
}

/** Each rule a candidate must meet before it may be sold; a miss names itself. */
const rules: readonly { code: string; detail: string; holds(slot: CandidateSlot): boolean }[] = [
  { code: 'gpu_missing', detail: 'has no GPU PCI address', holds: (s) => s.gpu_pci_address !== '' },
  {
    code: 'fabric_vf_missing',
    detail: 'has no fabric VF of its own',
    holds: (s) => s.fabric_vf_pci_address !== null && s.fabric_vf_pci_address !== '',
  },
  {
    code: 'nvme_missing',
    detail: 'has no raw NVMe disk',
    holds: (s) =>
      s.nvme_serial !== null && s.nvme_serial !== '' && s.nvme_device !== null && s.nvme_device !== '',
  },
  {
    code: 'nvme_mounted',
    detail: 'has a mounted or foreign filesystem on its disk; drain and remap it first',
    holds: (s) => s.nvme_mounts.length === 0,
  },
  { code: 'management_mac_missing', detail: 'has no management MAC', holds: (s) => s.management_mac !== '' },
  { code: 'private_ip_missing', detail: 'has no private IP reservation', holds: (s) => s.private_ip !== '' },
];

const unique: readonly { code: string; detail: string; of(slot: CandidateSlot): string | null }[] = [
  { code: 'gpu_shared', detail: 'shares its GPU with another slot', of: (s) => s.gpu_pci_address },
  {
    code: 'fabric_vf_shared',
    detail: 'shares its fabric VF with another slot',
    of: (s) => s.fabric_vf_pci_address,
  },
  { code: 'nvme_shared', detail: 'shares its disk with another slot', of: (s) => s.nvme_serial },
  { code: 'management_mac_shared', detail: 'shares its MAC with another slot', of: (s) => s.management_mac },
  { code: 'private_ip_shared', detail: 'shares its IP with another slot', of: (s) => s.private_ip },
];

/** Every miss of every candidate at once; empty means all of them may be approved. */
export function approvalMisses(candidates: readonly CandidateSlot[]): ApprovalMiss[] {
  const misses: ApprovalMiss[] = [];
  for (const slot of candidates) {
    for (const rule of rules) {
      if (!rule.holds(slot))
        misses.push({ slotIndex: slot.slot_index, code: rule.code, detail: rule.detail });
    }
    for (const rule of unique) {
      const value = rule.of(slot);
      const others = candidates.filter(
        (other) => other !== slot && value !== null && rule.of(other) === value,
      );
      if (others.length > 0)
        misses.push({ slotIndex: slot.slot_index, code: rule.code, detail: rule.detail });
    }
  }
  return misses;
}
