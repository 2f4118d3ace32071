import { expect, test } from 'vitest';
import type { CandidateSlot } from '../api/types.ts';
import { keepsRules, rulesOf } from './topology-rules.ts';

function candidate(index: number, change: Partial<CandidateSlot> = {}): CandidateSlot {
  return {
    slot_index: index,
    gpu_model: 'H200',
    gpu_pci_address: `0000:0${index}:00.0`,
    iommu_group: index,
    fabric_vf_pci_address: `0000:1${index}:00.0`,
    nvme_serial: `N${index}`,
    nvme_device: `/dev/nvme${index}n1`,
    nvme_mounts: [],
    management_mac: `52:54:00:00:00:0${index}`,
    private_ip: `10.0.0.${index}`,
    ovs_port: `p${index}`,
    numa_node: 0,
    pcie_root: 'pci0000:00',
    ...change,
  };
}

const broken = (one: CandidateSlot, others: CandidateSlot[] = []) =>
  rulesOf(one, [one, ...others]).flatMap(({ name, breach }) => (breach ? [name] : []));

test('a whole candidate keeps every rule', () => {
  const all = [candidate(0), candidate(1)];
  expect(all.every((one) => keepsRules(one, all))).toBe(true);
});

test('each missing or shared part breaks its own rule', () => {
  expect(broken(candidate(0, { fabric_vf_pci_address: null }))).toEqual(['Has a fabric function']);
  expect(broken(candidate(0, { nvme_serial: null }))).toEqual(['Has a disk']);
  expect(broken(candidate(0, { nvme_mounts: ['/data'] }))).toEqual(['The disk is free']);
  expect(broken(candidate(0, { nvme_serial: 'N1' }), [candidate(1)])).toEqual(['Shares no device']);
  expect(broken(candidate(0, { iommu_group: 1 }), [candidate(1)])).toEqual(['Is alone in its IOMMU group']);
  expect(broken(candidate(0, { private_ip: '10.0.0.1' }), [candidate(1)])).toEqual([
    'Has addresses of its own',
  ]);
});
