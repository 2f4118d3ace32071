import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { describe, expect, it } from 'vitest';
import { approvalViolations, checkCandidate, type ApprovalContext } from './approval-rules.ts';

function candidate(slotIndex: number, change: Partial<CandidateSlot> = {}): CandidateSlot {
  return {
    slot_index: slotIndex,
    gpu_model: 'H200-SXM-141GB',
    gpu_pci_address: `0000:1${slotIndex}:00.0`,
    iommu_group: slotIndex,
    fabric_vf_pci_address: `0000:2${slotIndex}:00.1`,
    nvme_serial: `S6CKN0T${slotIndex}`,
    nvme_device: `/dev/disk/by-id/nvme-${slotIndex}`,
    nvme_mounts: [],
    management_mac: `52:54:00:00:00:0${slotIndex}`,
    private_ip: `10.0.0.1${slotIndex}`,
    ovs_port: `vm${slotIndex}`,
    numa_node: 0,
    pcie_root: 'pci0000:10',
    ...change,
  };
}

const good: ApprovalContext = {
  mode: 'slice',
  fabricClaimMode: 'per_slot_vf',
  destructiveWipePolicy: 'blkdiscard',
  products: new Set(['H200-SXM-141GB']),
  disks: new Map(),
  approved: [],
  discovered: [],
  elsewhere: new Map(),
  unproven: new Map(),
};

const codesOf = (candidates: CandidateSlot[], context = good): string[] =>
  approvalViolations(candidates, context).map((miss) => miss.code);

describe('slot approval', () => {
  it('lets a complete host pass', () => {
    expect(approvalViolations([candidate(0), candidate(1)], good)).toEqual([]);
  });

  it.each<[string, string, Partial<CandidateSlot>]>([
    ['gpu_missing', 'gpu_pci_address', { gpu_pci_address: '' }],
    ['gpu_model_unknown', 'gpu_model', { gpu_model: 'Voodoo-2' }],
    ['fabric_vf_missing', 'fabric_vf_pci_address', { fabric_vf_pci_address: null }],
    ['fabric_vf_missing', 'fabric_vf_pci_address', { fabric_vf_pci_address: '' }],
    ['nvme_missing', 'nvme_serial', { nvme_serial: null }],
    ['nvme_missing', 'nvme_serial', { nvme_device: null }],
    ['nvme_mounted', 'nvme_mounts', { nvme_mounts: ['/dev/nvme0n1p1 on /share'] }],
    ['nvme_foreign_filesystem', 'nvme_filesystems', { nvme_filesystems: ['ext4 on nvme0n1p1'] }],
    ['management_mac_missing', 'management_mac', { management_mac: '' }],
    ['private_ip_missing', 'private_ip', { private_ip: '' }],
  ])('refuses %s and points at %s', (code, field, change) => {
    expect(approvalViolations([candidate(0, change), candidate(1)], good)).toMatchObject([
      { pointer: `/candidates/0/${field}`, code },
    ]);
  });

  it.each<[string, string, Partial<ApprovalContext>]>([
    ['node_not_in_slice_mode', '', { mode: 'baremetal' }],
    ['fabric_not_per_slot', '/fabric_claim_mode', { fabricClaimMode: 'host_shared' }],
    ['wipe_policy_missing', '/destructive_wipe_policy', { destructiveWipePolicy: '' }],
  ])('refuses %s', (code, pointer, change) => {
    expect(approvalViolations([candidate(0)], { ...good, ...change })).toMatchObject([{ pointer, code }]);
  });

  it.each(['host', 'share', 'baremetal'])('refuses a disk that is assigned to %s', (ownership) => {
    const disks = new Map([['S6CKN0T0', { ownership, wipeProof: null }]]);
    expect(codesOf([candidate(0)], { ...good, disks })).toEqual(['disk_not_slice_owned']);
  });

  it('accepts file systems with a recorded proof, mounts never', () => {
    const disks = new Map([['S6CKN0T0', { ownership: 'slice', wipeProof: 'blkdiscard by infra' }]]);
    const left = candidate(0, { nvme_filesystems: ['ext4'] });
    expect(codesOf([left], { ...good, disks })).toEqual([]);
    expect(codesOf([{ ...left, nvme_mounts: ['/share'] }], { ...good, disks })).toEqual(['nvme_mounted']);
  });

  it.each<[string, Partial<CandidateSlot>]>([
    ['gpu_shared', { gpu_pci_address: '0000:10:00.0' }],
    ['fabric_vf_shared', { fabric_vf_pci_address: '0000:20:00.1' }],
    ['nvme_shared', { nvme_serial: 'S6CKN0T0' }],
    ['management_mac_shared', { management_mac: '52:54:00:00:00:00' }],
    ['private_ip_shared', { private_ip: '10.0.0.10' }],
    ['iommu_group_shared', { iommu_group: 0 }],
  ])('refuses %s for both slots', (code, change) => {
    const misses = approvalViolations([candidate(0), candidate(1, change)], good);
    expect(misses.map((miss) => [miss.pointer.split('/')[2], miss.code])).toEqual([
      ['0', code],
      ['1', code],
    ]);
  });

  it('refuses devices that an approved slot already has', () => {
    const approved = [candidate(7, { private_ip: '10.0.0.10' })];
    expect(codesOf([candidate(0)], { ...good, approved })).toEqual(['private_ip_shared']);
  });

  it('refuses one of two that share an IOMMU group, also if the request names only that one', () => {
    const discovered = [candidate(0), candidate(1, { iommu_group: 0 })];
    expect(codesOf([candidate(0)], { ...good, discovered })).toEqual(['iommu_group_shared']);
  });

  it('says for every rule whether it is met, in words', () => {
    const mounted = candidate(0, { nvme_mounts: ['/x'] });
    const verdicts = checkCandidate(mounted, [mounted, candidate(1)], good);
    expect(verdicts.filter(({ breach }) => breach !== null)).toEqual([
      {
        code: 'nvme_mounted',
        name: 'The disk is not mounted',
        field: 'nvme_mounts',
        breach: 'Slot 0 has a disk that is mounted; end that use and unmount it first.',
      },
    ]);
    expect(new Set(verdicts.map(({ code }) => code)).size).toBe(18);
  });

  it('reports all violations together', () => {
    const worst = candidate(0, { nvme_mounts: ['/x'], fabric_vf_pci_address: null, management_mac: '' });
    expect(codesOf([worst], { ...good, mode: 'baremetal' })).toEqual([
      'node_not_in_slice_mode',
      'fabric_vf_missing',
      'nvme_mounted',
      'management_mac_missing',
    ]);
  });
});
