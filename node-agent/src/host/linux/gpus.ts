import type { HostFiles } from './host-files.ts';
import { strangersInGroup, type PciDevice } from './pci.ts';

export interface Gpu {
  device: PciDevice;
  strangers: string[];
  /** It is on the list but no longer answers on the bus. */
  lost: boolean;
}

/** Display and 3D controllers; processing accelerators when we know them. */
export function readGpus(files: HostFiles, pci: ReadonlyMap<string, PciDevice>): Gpu[] {
  const found = [...pci.values()].filter(
    (device) => device.known?.role === 'gpu' || (device.known === null && device.pciClass.startsWith('03')),
  );
  return found.map((device) => ({
    device,
    strangers: strangersInGroup(files, device, pci),
    lost: isLost(files, device.address),
  }));
}

/** A device that fell off the bus answers every read of its configuration space with ones. */
export function isLost(files: HostFiles, address: string): boolean {
  const id = files.bytes(`/sys/bus/pci/devices/${address}/config`, 4);
  return id !== null && id.length === 4 && id.every((byte) => byte === 0xff);
}
