import type { DiskLayout } from './disks.ts';
import type { HasFault } from './faults.ts';
import { faultyGpus, MOUNT_POINT, MOUNTED_SLOT } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';
import { hgxH200 } from './host-tree/hgx-h200.ts';
import type { HostTree, PciNode } from './host-tree/host-tree.ts';

/** What the machine's disks carry, by serial number; the others are blank. */
export type DiskLayouts = ReadonlyMap<string, DiskLayout>;

/** The tree that the kernel of the simulated machine shows now. */
export function simulatedTree(
  hardware: SimulatedHardware,
  mode: 'slice' | 'baremetal',
  hasFault: HasFault,
  layouts: DiskLayouts = new Map(),
): HostTree {
  const tree = hgxH200({
    // They are made for slices, and taken back with them.
    virtualFunctions: hasFault('sriov_off') || mode !== 'slice' ? 0 : 2,
    functionDriver: 'vfio-pci',
    lost: faultyGpus('gpu_lost', hasFault),
  });
  const nodes = tree.roots.flatMap(({ children }) => allBelow(children));
  const disks = nodes.flatMap((node) => node.nvme ?? []);
  // The board's own disks come first.
  const serials = [...hardware.bootSerials, ...hardware.slots.map((slot) => slot.nvme_serial)];
  for (const [index, disk] of disks.entries()) {
    disk.serial = serials[index]!;
    Object.assign(disk, layouts.get(disk.serial));
  }
  const mounted = hasFault('disk_mounted') ? hardware.slots[MOUNTED_SLOT]?.nvme_serial : null;
  for (const disk of disks.filter(({ serial }) => serial === mounted))
    disk.partitions = [{ filesystem: 'ext4', mountPoint: MOUNT_POINT }];
  for (const node of nodes) {
    if (mode === 'baremetal' && node.driver === 'vfio-pci') node.driver = 'nvidia';
    if (hasFault('iommu_off')) delete node.iommuGroup;
  }
  return tree;
}

function allBelow(nodes: readonly PciNode[]): PciNode[] {
  return nodes.flatMap((node) => [node, ...allBelow(node.children ?? []), ...(node.sriov?.functions ?? [])]);
}
