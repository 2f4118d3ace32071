import type { DiskLayout } from './disks.ts';
import type { HasFault } from './faults.ts';
import { faultyGpus, MOUNT_POINT, MOUNTED_SLOT } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';
import { hgxH200 } from './host-tree/hgx-h200.ts';
import { allNodes, type HostTree } from './host-tree/host-tree.ts';

/** What `gpuaas-node-agent bootstrap` leaves on a host. */
const BOOTSTRAPPED: Record<string, string> = {
  '/proc/cmdline': 'BOOT_IMAGE=/vmlinuz root=/dev/md0 ro intel_iommu=on iommu=pt',
  '/sys/bus/pci/drivers/vfio-pci/module': '',
  '/dev/kvm': '',
  '/usr/share/OVMF/OVMF_CODE_4M.fd': '',
  '/usr/bin/qemu-img': '',
  '/usr/bin/cloud-localds': '',
  '/usr/bin/rdma': '',
  '/usr/bin/ibv_devinfo': '',
  '/usr/sbin/ibstat': '',
  '/var/lib/gpuaas/images/.keep': '',
};

/** What the machine's disks carry, by serial number; the others are blank. */
export type DiskLayouts = ReadonlyMap<string, DiskLayout>;

/**
 * The tree that the kernel of the simulated machine shows now. Before its first promotion it is as the operating system
 * binds it: no virtual functions, GPUs at the driver of their vendor.
 */
export function simulatedTree(
  hardware: SimulatedHardware,
  mode: 'slice' | 'baremetal' | null,
  hasFault: HasFault,
  layouts: DiskLayouts = new Map(),
): HostTree {
  const tree = hgxH200({
    // They are made for slices, and taken back with them.
    virtualFunctions: hasFault('sriov_off') || mode !== 'slice' ? 0 : 2,
    functionDriver: 'vfio-pci',
    lost: faultyGpus('gpu_lost', hasFault),
  });
  const nodes = allNodes(tree);
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
    if (mode !== 'slice' && node.driver === 'vfio-pci') node.driver = 'nvidia';
    if (hasFault('iommu_off')) delete node.iommuGroup;
    if (hasFault('sriov_off') && node.sriov) node.sriov.total = 0;
  }
  Object.assign(tree.files, BOOTSTRAPPED);
  if (hasFault('reboot_required')) tree.files['/run/reboot-required'] = '';
  return tree;
}
