import type { HostFiles } from '../host-files.ts';
import { otherDevicesInGroup, type PciDevice } from './pci.ts';

export interface Gpu {
  device: PciDevice;
  groupNeighbours: string[];
  /** It is on the list but no longer answers on the bus. */
  lost: boolean;
}

/** Display and 3D controllers; processing accelerators if their ids are known. */
export function readGpus(files: HostFiles, pci: ReadonlyMap<string, PciDevice>): Gpu[] {
  const found = [...pci.values()].filter(
    (device) => device.known?.role === 'gpu' || (device.known === null && device.pciClass.startsWith('03')),
  );
  return found.map((device) => ({
    device,
    groupNeighbours: otherDevicesInGroup(files, device, pci),
    lost: isLost(files, device.address),
  }));
}

/**
 * A device that fell off the bus returns ones for every read of its configuration space. The ids alone are
 * not enough: a virtual function always shows ones there, followed by its command and status.
 */
export function isLost(files: HostFiles, address: string): boolean {
  const head = files.bytes(`/sys/bus/pci/devices/${address}/config`, 8);
  return head !== null && head.length >= 4 && head.every((byte) => byte === 0xff);
}
