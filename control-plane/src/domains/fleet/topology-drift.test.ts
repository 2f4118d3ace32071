import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { expect, it } from 'vitest';
import { topologyDrift } from './topology-drift.ts';

function candidate(slotIndex: number, change: Partial<CandidateSlot> = {}): CandidateSlot {
  return {
    slot_index: slotIndex,
    gpu_model: 'H200-SXM-141GB',
    gpu_pci_address: `gpu${slotIndex}`,
    iommu_group: slotIndex,
    fabric_vf_pci_address: `vf${slotIndex}`,
    nvme_serial: `disk${slotIndex}`,
    nvme_device: `/dev/${slotIndex}`,
    nvme_mounts: [],
    management_mac: `mac${slotIndex}`,
    private_ip: `ip${slotIndex}`,
    ovs_port: `vm${slotIndex}`,
    numa_node: 0,
    pcie_root: 'root',
    ...change,
  };
}

const slots = [0, 1].map((index) => ({ id: `slot-${index}`, ...candidate(index) }));
const drift = (...candidates: CandidateSlot[]) =>
  topologyDrift(slots, { approval_required: true, candidates, left_out: [] }).map(
    ({ slot_index, kind, observed }) => [slot_index, kind, observed],
  );

it('is empty for a host as it was approved', () => {
  expect(drift(candidate(0), candidate(1))).toEqual([]);
});

it('names every device of a slot that is gone', () => {
  expect(drift(candidate(0))).toEqual([
    [1, 'gpu_missing', null],
    [1, 'fabric_vf_missing', null],
    [1, 'disk_missing', null],
  ]);
});

it('names what is bound otherwise, mounted or new', () => {
  const moved = candidate(1, { nvme_serial: 'disk9', nvme_mounts: ['/x'] });
  expect(drift(candidate(0, { nvme_mounts: ['/share'] }), moved, candidate(2))).toEqual([
    [0, 'disk_mounted', '/share'],
    [1, 'disk_missing', null],
    [1, 'binding_changed', 'nvme_serial disk9'],
    [2, 'not_approved', 'gpu2'],
  ]);
});
