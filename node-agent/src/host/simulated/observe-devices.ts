import type { ObservedDevices } from '../host.ts';
import { isFailing, isLost, mountsOf, type HasFault } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';

/** `use` is the percentage of each GPU that a machine has, by PCI address. */
export function observeSimulatedDevices(
  hardware: SimulatedHardware,
  hasFault: HasFault,
  use: ReadonlyMap<string, number>,
): ObservedDevices {
  return {
    gpus: hardware.slots.map((slot) => {
      const { gpu_pci_address: pci_address } = slot;
      if (isLost(slot, hasFault)) {
        return { pci_address, state: 'lost', detail: 'XID 79: GPU has fallen off the bus' };
      }
      return isFailing(slot, hasFault)
        ? { pci_address, state: 'failing', detail: 'XID 48: double-bit ECC error' }
        : { pci_address, state: 'ok', ...useOf(use.get(pci_address)) };
    }),
    disks: hardware.slots.map((slot) => ({
      serial: slot.nvme_serial,
      pci_address: null,
      wwid: null,
      mounts: mountsOf(slot, hasFault),
    })),
  };
}

function useOf(utilisation_percent: number | undefined): { utilisation_percent?: number } {
  return utilisation_percent === undefined ? {} : { utilisation_percent };
}
