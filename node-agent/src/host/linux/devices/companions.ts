import type { HostFiles } from '../host-files.ts';
import { isBridge, type PciDevice } from '../inventory/pci.ts';

/** Other functions of the same card in the same IOMMU group, such as a GPU's audio: they go where the card goes. */
export function companionsOf(
  files: HostFiles,
  device: PciDevice,
  all: ReadonlyMap<string, PciDevice>,
): string[] {
  if (device.iommuGroup === null) return [];
  return files.list(`/sys/kernel/iommu_groups/${device.iommuGroup}/devices`).filter((address) => {
    const other = all.get(address);
    const sameCard = address.slice(0, -1) === device.address.slice(0, -1);
    return address !== device.address && sameCard && other !== undefined && !isBridge(other);
  });
}
