import type { ObservedDevices } from '../host.ts';
import { isLost, type HasFault } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';
import { mountsOf } from './survey-topology.ts';

export function observeSimulatedDevices(hardware: SimulatedHardware, hasFault: HasFault): ObservedDevices {
  return {
    gpus: hardware.slots.map((slot) =>
      isLost(slot, hasFault)
        ? { pci_address: slot.gpu_pci_address, state: 'lost', detail: 'XID 79: GPU has fallen off the bus' }
        : { pci_address: slot.gpu_pci_address, state: 'ok' },
    ),
    disks: hardware.slots.map((slot) => ({
      serial: slot.nvme_serial,
      pci_address: null,
      wwid: null,
      mounts: mountsOf(slot, hasFault),
    })),
  };
}
