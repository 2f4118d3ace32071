import { rm } from 'node:fs/promises';
import type { SimulatedFault } from '@gpuaas/contracts/simulated-faults';
import { expect, it } from 'vitest';
import { makeTreeFolder } from '../../testing/tree-folder.ts';
import type { RunCommand } from '../linux/commands.ts';
import { checkPrerequisites } from '../linux/prerequisites/check-prerequisites.ts';
import { discoverTopology } from '../linux/topology/discover-topology.ts';
import { openHostFiles } from '../linux/host-files.ts';
import { observeDevices } from '../linux/health/observe-devices.ts';
import { describeHardware } from './hardware.ts';
import { openMemoryFiles } from './host-tree/memory-files.ts';
import { writeHostTree } from './host-tree/write-host-tree.ts';
import { observeSimulatedDevices } from './observe-devices.ts';
import { simulatedTools } from './simulated-tools.ts';
import { simulatedTree } from './simulated-tree.ts';

const HOSTNAME = 'sim-h200-01';
const hardware = describeHardware(HOSTNAME);
const noTools: RunCommand = () => Promise.resolve(null);

const treeWith = (...faults: SimulatedFault[]) =>
  simulatedTree(hardware, 'slice', (fault) => faults.includes(fault));
const discover = (...faults: SimulatedFault[]) =>
  discoverTopology(openMemoryFiles(treeWith(...faults)), noTools, HOSTNAME);

it('the reader of real hosts finds the simulated hardware, with a reason for each omitted device', async () => {
  const { candidates, left_out, inventory } = await discover();
  expect(candidates).toMatchObject(hardware.slots);
  expect(candidates.every((slot) => slot.nvme_locality === 'same_switch')).toBe(true);
  expect(new Set(left_out.map(({ code }) => code))).toEqual(
    new Set(['bluefield', 'boot_disk', 'fabric_vf_spare', 'gpu_unknown', 'nvswitch']),
  );
  const serials = inventory?.disks.map(({ serial }) => serial).toSorted();
  expect(serials).toEqual(
    [...hardware.bootSerials, ...hardware.slots.map((slot) => slot.nvme_serial)].toSorted(),
  );
});

it('reads the same from memory as from a folder', async () => {
  const root = await makeTreeFolder();
  try {
    writeHostTree(root, treeWith('disk_mounted'));
    const fromFolder = await discoverTopology(openHostFiles(root), noTools, HOSTNAME);
    expect(await discover('disk_mounted')).toEqual(fromFolder);
  } finally {
    await rm(root, { recursive: true });
  }
});

it('shows faults as the kernel would', async () => {
  const lost = await discover('gpu_lost');
  expect(lost.candidates).toHaveLength(7);
  expect(lost.left_out).toContainEqual(expect.objectContaining({ code: 'gpu_lost', device: '0000:d1:00.0' }));
  const mounted = await discover('disk_mounted');
  expect(mounted.candidates.map((slot) => slot.nvme_mounts.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  const withoutFunctions = await discover('sriov_off');
  expect(withoutFunctions.candidates.every((slot) => slot.fabric_vf_pci_address === null)).toBe(true);
  const withoutIommu = await discover('iommu_off');
  expect(withoutIommu.candidates).toEqual([]);
  expect(withoutIommu.left_out.filter(({ code }) => code === 'iommu_off')).toHaveLength(24);
});

it('binds the GPUs to the vendor’s driver in baremetal mode, and takes back the virtual functions', async () => {
  const tree = simulatedTree(hardware, 'baremetal', () => false);
  const { candidates } = await discoverTopology(openMemoryFiles(tree), noTools, HOSTNAME);
  expect(candidates.every((slot) => slot.gpu_driver === 'nvidia')).toBe(true);
  expect(candidates.every((slot) => slot.fabric_vf_pci_address === null)).toBe(true);
});

const missesOf = async (mode: 'slice' | null, ...faults: SimulatedFault[]) => {
  const files = openMemoryFiles(simulatedTree(hardware, mode, (fault) => faults.includes(fault)));
  const { checks } = await checkPrerequisites(files, simulatedTools, {});
  return checks.filter(({ state }) => state !== 'ok').map(({ id, evidence }) => `${id}: ${evidence}`);
};

it('is born as its operating system binds it, and fails the checks for slices by that', async () => {
  const tree = simulatedTree(hardware, null, () => false);
  const { candidates } = await discoverTopology(openMemoryFiles(tree), noTools, HOSTNAME);
  expect(
    candidates.map(({ gpu_driver, fabric_vf_pci_address }) => [gpu_driver, fabric_vf_pci_address]),
  ).toEqual(hardware.slots.map(() => ['nvidia', null]));
  expect(await missesOf(null)).toEqual([
    expect.stringMatching(/^vfio: not bound to vfio-pci: 0000:1b:00.0 \(nvidia\), /),
    expect.stringMatching(/^sriov: 0 of 8 adapters have virtual functions; /),
  ]);
});

it('answers the checks from its tree', async () => {
  expect(await missesOf('slice')).toEqual([]);
  expect(await missesOf('slice', 'sriov_off')).toEqual([
    expect.stringMatching(/^sriov: 0 of 8 adapters have virtual functions; /),
  ]);
  expect(await missesOf('slice', 'iommu_off')).toEqual([
    'iommu: the kernel was given intel_iommu=on, but there are no IOMMU groups',
  ]);
  expect(await missesOf('slice', 'reboot_required')).toEqual([
    'reboot_required: /run/reboot-required is there',
  ]);
});

it.each<SimulatedFault[][]>([[[]], [['gpu_lost', 'disk_mounted']]])(
  'says in heartbeats what the files show under %j',
  async (faults) => {
    const files = openMemoryFiles(treeWith(...faults));
    const seen = await observeDevices(files, noTools, new Map(), () => Promise.resolve(new Map()));
    const observed = observeSimulatedDevices(hardware, (fault) => faults.includes(fault), new Map());
    expect(observed.gpus.map(({ pci_address, state }) => [pci_address, state])).toEqual(
      seen.gpus.map(({ pci_address, state }) => [pci_address, state]),
    );
    for (const { serial, mounts } of observed.disks) {
      expect(seen.disks.find((disk) => disk.serial === serial)?.mounts).toEqual(mounts);
    }
  },
);
