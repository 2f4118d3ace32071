import type { CandidateSlot } from '../api/types.ts';

export interface Rule {
  name: string;
  /** What is wrong; null when the rule is kept. */
  breach: string | null;
}

/** What a candidate must show before it can be a slot, one by one. The API checks the same when it is approved. */
export function rulesOf(candidate: CandidateSlot, all: CandidateSlot[]): Rule[] {
  const others = all.filter((other) => other !== candidate);
  const { fabric_vf_pci_address: vf, nvme_serial: nvme, nvme_mounts: mounts } = candidate;
  return [
    { name: 'Has a fabric function', breach: vf ? null : 'No fabric function was found beside the GPU.' },
    { name: 'Has a disk', breach: nvme ? null : 'No NVMe disk was found beside the GPU.' },
    { name: 'The disk is free', breach: mounts.length > 0 ? `It is mounted at ${mounts.join(', ')}.` : null },
    {
      name: 'Shares no device',
      breach: others.some((other) => sharesDevice(candidate, other))
        ? 'Another candidate has the same.'
        : null,
    },
    {
      name: 'Is alone in its IOMMU group',
      breach: others.some((other) => other.iommu_group === candidate.iommu_group)
        ? `Group ${candidate.iommu_group} holds another GPU.`
        : null,
    },
    {
      name: 'Has addresses of its own',
      breach: others.some(
        (other) =>
          other.private_ip === candidate.private_ip || other.management_mac === candidate.management_mac,
      )
        ? 'Another candidate has the same MAC or IP.'
        : null,
    },
  ];
}

export function keepsRules(candidate: CandidateSlot, all: CandidateSlot[]): boolean {
  return rulesOf(candidate, all).every(({ breach }) => breach === null);
}

function sharesDevice(a: CandidateSlot, b: CandidateSlot): boolean {
  return (
    a.gpu_pci_address === b.gpu_pci_address ||
    (a.nvme_serial !== null && a.nvme_serial === b.nvme_serial) ||
    (a.fabric_vf_pci_address !== null && a.fabric_vf_pci_address === b.fabric_vf_pci_address)
  );
}
