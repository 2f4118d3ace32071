import type { Topology } from '../../host.ts';
import type { Fabric } from '../inventory/fabrics.ts';
import type { Gpu } from '../inventory/gpus.ts';
import type { DeviceLocation } from './locality.ts';
import type { Disk } from '../inventory/disks.ts';
import type { LocatedDevice } from './pair-by-locality.ts';
import type { PciDevice } from '../inventory/pci.ts';

export type ExcludedDevice = Required<Topology['left_out'][number]>;

export interface GpuPart extends DeviceLocation {
  address: string;
  slotIndex: number;
  device: PciDevice;
}

export interface FabricPart extends LocatedDevice {
  fabric: Fabric;
}

export interface DiskPart extends LocatedDevice {
  disk: Disk;
}

const MAX_SLOTS = 16;

/** Numbered over all GPUs of the host, so that one that is left out today does not shift the others. */
export function selectUsableGpus(gpus: readonly Gpu[]): { usable: GpuPart[]; leftOut: ExcludedDevice[] } {
  const usable: GpuPart[] = [];
  const leftOut: ExcludedDevice[] = [];
  const numbered = gpus.filter(({ device }) => device.known?.role === 'gpu');
  for (const gpu of gpus) {
    const { device } = gpu;
    const slotIndex = numbered.indexOf(gpu);
    const miss = gpuMiss(gpu, slotIndex);
    if (miss) leftOut.push({ device: device.address, kind: 'gpu', ...miss });
    else usable.push({ ...placeOf(device), slotIndex, device });
  }
  return { usable, leftOut };
}

function gpuMiss(
  { device, groupNeighbours, lost }: Gpu,
  slotIndex: number,
): Pick<ExcludedDevice, 'code' | 'reason'> | null {
  if (!device.known) {
    return { code: 'gpu_unknown', reason: `display device ${device.id} is not a GPU that we know` };
  }
  if (lost)
    return { code: 'gpu_lost', reason: 'the GPU does not answer on the bus; reset or repair the host' };
  if (device.iommuGroup === null) {
    return { code: 'iommu_off', reason: 'it has no IOMMU group: the IOMMU is off in firmware or kernel' };
  }
  if (groupNeighbours.length > 0) {
    const reason = `its IOMMU group ${device.iommuGroup} also holds ${groupNeighbours.join(', ')}; enable ACS on the bridge`;
    return { code: 'iommu_group_shared', reason: reason.slice(0, 500) };
  }
  if (slotIndex >= MAX_SLOTS)
    return { code: 'too_many_gpus', reason: `a host has at most ${MAX_SLOTS} slots` };
  return null;
}

export function selectUsableFabrics(fabrics: readonly Fabric[]) {
  const usable: FabricPart[] = [];
  const leftOut: ExcludedDevice[] = [];
  const leave = (address: string, code: ExcludedDevice['code'], reason: string): void =>
    void leftOut.push({ device: address, kind: 'fabric', code, reason: reason.slice(0, 500) });

  for (const fabric of fabrics) {
    const { pf, functions, linkState } = fabric;
    if (functions.length === 0) {
      leave(
        pf.address,
        'fabric_no_vfs',
        pf.sriovTotal > 0
          ? `no virtual functions: sriov_numvfs is 0 of ${pf.sriovTotal}`
          : 'no virtual functions: SR-IOV is off in the firmware of the adapter',
      );
    } else if (linkState !== 'ACTIVE') {
      leave(
        pf.address,
        'fabric_link_down',
        `the port of ${fabric.rdmaDevice ?? pf.address} is ${linkState ?? 'unknown'}`,
      );
    } else {
      for (const { device, unusable } of functions) {
        if (unusable) leave(device.address, unusable.code, unusable.reason);
        else usable.push({ ...placeOf(device), lastResort: false, fabric });
      }
    }
  }
  return { usable, leftOut, spare: spareFunctions };

  function spareFunctions(taken: ReadonlySet<FabricPart>): ExcludedDevice[] {
    return fabrics.flatMap((fabric): ExcludedDevice[] => {
      const spare = usable.filter((part) => part.fabric === fabric && !taken.has(part));
      if (spare.length === 0) return [];
      const reason = `spare virtual functions: ${spare.map((part) => part.address).join(', ')}`.slice(0, 500);
      return [{ device: fabric.pf.address, kind: 'fabric', code: 'fabric_vf_spare', reason }];
    });
  }
}

export function selectUsableDisks(disks: readonly Disk[]) {
  const usable: DiskPart[] = [];
  const leftOut: ExcludedDevice[] = [];
  for (const disk of disks) {
    const miss = diskMiss(disk, disks);
    if (miss) {
      leftOut.push({ device: nameOf(disk), kind: 'disk', ...miss });
      continue;
    }
    const { path, numaNode, pciAddress, use } = disk;
    const lastResort = use.mounts.length > 0 || use.filesystems.length > 0;
    usable.push({ path, numaNode, address: pciAddress ?? '', lastResort, disk });
  }
  return { usable, leftOut, spare: spareDisks };

  function spareDisks(taken: ReadonlySet<DiskPart>): ExcludedDevice[] {
    return usable
      .filter((part) => !taken.has(part))
      .map(({ disk }) => ({
        device: nameOf(disk),
        kind: 'disk',
        code: 'disk_spare',
        reason: 'no GPU without a disk is left',
      }));
  }
}

function diskMiss(disk: Disk, all: readonly Disk[]): Pick<ExcludedDevice, 'code' | 'reason'> | null {
  if (disk.use.bootReason)
    return { code: 'boot_disk', reason: `the host runs from it: ${disk.use.bootReason}` };
  if (!disk.nvme || !disk.pciAddress) return { code: 'disk_not_pci', reason: 'not an NVMe disk on PCI' };
  if (!disk.serial || !disk.device) {
    const what = disk.serial ? 'a path in /dev/disk/by-id' : 'a serial number';
    return {
      code: 'disk_no_identity',
      reason: `it has not got ${what}, so it could be taken for another one`,
    };
  }
  if (all.some((other) => other !== disk && other.serial === disk.serial)) {
    return {
      code: 'disk_duplicate_identity',
      reason: `another disk has the serial number ${disk.serial} too`,
    };
  }
  if (disk.sizeBytes === 0) return { code: 'disk_too_small', reason: 'it has no capacity' };
  return null;
}

function nameOf(disk: Disk): string {
  const known = [disk.pciAddress, disk.serial].filter((part) => part !== null).join(' ');
  return (known || `/dev/${disk.name}`).slice(0, 100);
}

function placeOf(device: PciDevice): DeviceLocation & { address: string } {
  return { address: device.address, path: device.path, numaNode: device.numaNode };
}
