import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { describe, expect, it } from 'vitest';
import { approvalMisses } from './approval-rules.ts';

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

describe('slot approval', () => {
  it('lets a complete host pass', () => {
    expect(approvalMisses([candidate(0), candidate(1)])).toEqual([]);
  });

  it.each<[string, Partial<CandidateSlot>]>([
    ['gpu_missing', { gpu_pci_address: '' }],
    ['fabric_vf_missing', { fabric_vf_pci_address: null }],
    ['nvme_missing', { nvme_serial: null }],
    ['nvme_mounted', { nvme_mounts: ['/dev/nvme0n1p1 on /share'] }],
    ['management_mac_missing', { management_mac: '' }],
    ['private_ip_missing', { private_ip: '' }],
  ])('refuses %s', (code, change) => {
    expect(approvalMisses([candidate(0, change), candidate(1)])).toMatchObject([{ slotIndex: 0, code }]);
  });

  it.each<[string, Partial<CandidateSlot>]>([
    ['gpu_shared', { gpu_pci_address: '0000:10:00.0' }],
    ['fabric_vf_shared', { fabric_vf_pci_address: '0000:20:00.1' }],
    ['nvme_shared', { nvme_serial: 'S6CKN0T0' }],
    ['management_mac_shared', { management_mac: '52:54:00:00:00:00' }],
    ['private_ip_shared', { private_ip: '10.0.0.10' }],
  ])('refuses %s for both slots', (code, change) => {
    const misses = approvalMisses([candidate(0), candidate(1, change)]);
    expect(misses).toMatchObject([
      { slotIndex: 0, code },
      { slotIndex: 1, code },
    ]);
  });

  it('reports every miss at once', () => {
    const misses = approvalMisses([candidate(0, { nvme_mounts: ['/x'], fabric_vf_pci_address: null })]);
    expect(misses.map((miss) => miss.code)).toEqual(['fabric_vf_missing', 'nvme_mounted']);
  });
});
