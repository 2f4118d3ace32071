import { expect, it } from 'vitest';
import { HOSTNAME } from '../../testing/simulated-host.ts';
import { provisionParams, slotBundles } from '../../testing/slots.ts';
import { hgxH200, type HgxOptions } from '../simulated/host-tree/hgx-h200.ts';
import { allNodes, type PciNode } from '../simulated/host-tree/host-tree.ts';
import { openMemoryFiles } from '../simulated/host-tree/memory-files.ts';
import { checkDevices } from './check-devices.ts';
import { checkHugepages } from './check-plan.ts';
import { readHostDevices } from './inventory/inventory.ts';

const GPU = '0000:1b:00.0';
const FUNCTION = '0000:18:00.1';

async function checked(board: Partial<HgxOptions>, change: (node: PciNode) => void = () => undefined) {
  const tree = hgxH200({ functionDriver: 'vfio-pci', ...board });
  for (const node of allNodes(tree)) change(node);
  const files = openMemoryFiles(tree);
  const devices = await readHostDevices(files, () => Promise.resolve(null));
  const slots = slotBundles(HOSTNAME, [0]);
  return () => checkDevices(files, devices, slots);
}

it('accepts devices that are bound to vfio-pci, each in its own group', async () => {
  expect(await checked({})).not.toThrow();
});

const refused: [string, Partial<HgxOptions>, (node: PciNode) => void, string, RegExp][] = [
  [
    'a GPU at the driver of its vendor',
    {},
    (node) => void (node.address === GPU && (node.driver = 'nvidia')),
    'device_not_bound',
    /1b:00.0 is bound to nvidia, not to vfio-pci/,
  ],
  [
    'a function without a driver',
    {},
    (node) => void (node.address === FUNCTION && delete node.driver),
    'device_not_bound',
    /18:00.1 is bound to no driver/,
  ],
  ['an IOMMU that is off', {}, (node) => delete node.iommuGroup, 'device_not_bound', /has no IOMMU group/],
  [
    'a GPU that shares its group',
    { sharedGroups: [0] },
    () => undefined,
    'device_not_bound',
    /IOMMU group of 0000:1b:00.0 also holds/,
  ],
  [
    'a function that is gone',
    { virtualFunctions: 0 },
    () => undefined,
    'plan_refused',
    /no virtual function/,
  ],
  ['a GPU that fell off the bus', { lost: [0] }, () => undefined, 'gpu_lost', /does not answer/],
];

it.each(refused)('refuses %s', async (_name, board, change, code, message) => {
  const check = await checked(board, change);
  expect(check).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
});

it('refuses a machine whose memory the free hugepages of its NUMA nodes cannot hold', async () => {
  const files = openMemoryFiles(hgxH200());
  const check = (memory_gib: number, hugepages: boolean, state: string | null = null) =>
    checkHugepages(
      { files, settings: { hugepages }, libvirt: { state: () => Promise.resolve(state) } },
      { ...provisionParams(HOSTNAME, [0], []), memory_gib },
    );
  await expect(check(960, true)).resolves.toBeUndefined();
  await expect(check(961, true)).rejects.toMatchObject({
    code: 'hugepages_missing',
    message: "960 GiB of hugepages are free on the slots' NUMA nodes, 961 GiB are needed",
  });
  await expect(check(961, true, 'running')).resolves.toBeUndefined();
  await expect(check(961, false)).resolves.toBeUndefined();
});
