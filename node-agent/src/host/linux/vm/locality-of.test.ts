import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import { discoverTopology } from '../topology/discover-topology.ts';
import { openHostFiles } from '../host-files.ts';
import { readHostDevices } from '../inventory/inventory.ts';
import { expandCpuList, localityOf } from './locality-of.ts';

let root: string;
beforeEach(async () => {
  root = await makeTreeFolder();
});
afterEach(() => rm(root, { recursive: true }));

async function machinesOfOneGpu(vcpu: number) {
  const files = openHostFiles(root);
  const run = () => Promise.resolve(null);
  const { gpus } = await readHostDevices(files, run);
  const { candidates } = await discoverTopology(files, run, 'hgx-01');
  const machines = candidates.map(({ slot_index, numa_node, gpu_pci_address }) => {
    const slot = { slot_index, numa_node, gpu_pci_address };
    return localityOf(files, gpus, [slot], vcpu)!;
  });
  return { machines };
}

it('machines of one GPU each take every processor once, on the socket of their GPU', async () => {
  writeHostTree(root, hgxH200());
  const { machines } = await machinesOfOneGpu(28);
  const pins = machines.flatMap((machine) => machine.pins);
  expect(pins.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 224 }, (_, cpu) => cpu));
  for (const { numaNodes, pins: own } of machines) {
    expect(numaNodes).toHaveLength(1);
    expect(own.every((cpu) => (cpu % 112 < 56 ? 0 : 1) === numaNodes[0])).toBe(true);
  }
});

it('no two machines have threads of the same core', async () => {
  // Linux numbers the second threads of both sockets after all the first ones.
  const cores = 112;
  writeHostTree(root, hgxH200());
  const { machines } = await machinesOfOneGpu(28);
  const owners = machines.map(({ pins }) => new Set(pins.map((cpu) => cpu % cores)));
  for (const own of owners) expect(own.size).toBe(14);
  expect(new Set(owners.flatMap((own) => [...own])).size).toBe(cores);
});

it('reads lists as the kernel writes them', () => {
  expect(expandCpuList('0-2,8,10-11')).toEqual([0, 1, 2, 8, 10, 11]);
  expect(expandCpuList('')).toEqual([]);
});
