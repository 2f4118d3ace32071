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
type Discovery = Parameters<typeof topologyDrift>[1];
const driftFrom = (discovery: Omit<Discovery, 'approval_required'>) =>
  topologyDrift(slots, { approval_required: true, ...discovery }).map(({ slot_index, kind, observed }) => [
    slot_index,
    kind,
    observed,
  ]);
const drift = (...candidates: CandidateSlot[]) => driftFrom({ candidates, left_out: [] });

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

it.each<[keyof CandidateSlot, string]>([
  ['gpu_model', 'H100-SXM5-80GB'],
  ['fabric_vf_pci_address', 'vf7'],
  ['nvme_device', '/dev/other'],
  ['management_mac', 'mac7'],
  ['private_ip', 'ip7'],
  ['ovs_port', 'vm7'],
])('names a changed %s', (field, value) => {
  const changed = drift(candidate(0), candidate(1, { [field]: value }));
  expect(changed).toContainEqual([1, 'binding_changed', `${field} ${value}`]);
});

it('names a GPU that left vfio-pci', () => {
  expect(drift(candidate(0, { gpu_driver: 'vfio-pci' }), candidate(1, { gpu_driver: 'nvidia' }))).toEqual([
    [1, 'driver_changed', 'nvidia'],
  ]);
  expect(drift(candidate(0), candidate(1, { gpu_driver: null }))).toEqual([
    [1, 'driver_changed', 'no driver'],
  ]);
});

const inventory: Required<Discovery>['inventory'] = {
  cpu: { model: 'x', sockets: 1, cores: 1, threads: 1, numa: [] },
  memory_kib: 1,
  hugepages: [],
  gpus: [],
  fabrics: [],
  disks: [],
  bluefield: [],
  ovs_bridges: [],
};

it('names a mount also of a disk that no candidate has', () => {
  const disk = {
    serial: 'disk1',
    pci_address: null,
    wwid: null,
    model: null,
    device: '/dev/1',
    size_bytes: 1,
    numa_node: 0,
    boot: false,
    mounts: ['/srv'],
    filesystems: [],
  };
  const found = driftFrom({
    candidates: [candidate(0)],
    left_out: [],
    inventory: { ...inventory, disks: [disk] },
  });
  expect(found).toContainEqual([1, 'disk_mounted', '/srv']);
});

it('names a GPU that is there and no longer proposed with the reason, and one that does not answer as missing', () => {
  const gpu = {
    pci_address: 'gpu1',
    device_id: '10de:2335',
    model: null,
    driver: null,
    numa_node: 0,
    pcie_path: [],
    iommu_group: 1,
    iommu_group_others: ['nic'],
  };
  const seen = (code: 'iommu_group_shared' | 'gpu_lost') =>
    driftFrom({
      candidates: [candidate(0)],
      left_out: [{ device: 'gpu1', kind: 'gpu', code, reason: 'because' }],
      inventory: { ...inventory, gpus: [gpu] },
    });
  expect(seen('iommu_group_shared')).toContainEqual([1, 'gpu_left_out', 'because']);
  expect(seen('gpu_lost')).toContainEqual([1, 'gpu_missing', null]);
});
