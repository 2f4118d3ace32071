import type { ObservedDevices } from '../host.ts';
import { isFailing, isLost, mountsOf, type HasFault } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';
import { simulatedUtilisation } from './utilisation.ts';

/** `holders` says by PCI address whose machine has a GPU. */
export function observeSimulatedDevices(
  hardware: SimulatedHardware,
  hasFault: HasFault,
  holders: ReadonlyMap<string, string>,
): ObservedDevices {
  return {
    gpus: hardware.slots.map((slot) => {
      const { gpu_pci_address: pci_address } = slot;
      if (isLost(slot, hasFault)) {
        return { pci_address, state: 'lost', detail: 'XID 79: GPU has fallen off the bus' };
      }
      return isFailing(slot, hasFault)
        ? { pci_address, state: 'failing', detail: 'XID 48: double-bit ECC error' }
        : { pci_address, state: 'ok', ...useOf(pci_address, holders.get(pci_address)) };
    }),
    disks: hardware.slots.map((slot) => ({
      serial: slot.nvme_serial,
      pci_address: null,
      wwid: null,
      mounts: mountsOf(slot, hasFault),
    })),
  };
}

function useOf(pciAddress: string, allocationId: string | undefined): { utilisation_percent?: number } {
  if (allocationId === undefined) return {};
  return { utilisation_percent: simulatedUtilisation(allocationId, pciAddress, new Date()) };
}
