import type { Topology } from '../host.ts';
import { isLost, type HasFault } from './faults.ts';
import type { SimulatedHardware, SimulatedSlot } from './hardware.ts';

/** The slot whose disk a host administrator "forgot" under the fault `disk_mounted`. */
const MOUNTED_SLOT = 7;

export function mountsOf(slot: SimulatedSlot, hasFault: HasFault): string[] {
  return slot.slot_index === MOUNTED_SLOT && hasFault('disk_mounted') ? ['/srv/scratch'] : [];
}

export function surveyTopology(hardware: SimulatedHardware, hasFault: HasFault): Topology {
  return {
    approval_required: true,
    candidates: hardware.slots
      .filter((slot) => !isLost(slot, hasFault))
      .map((slot) => ({ ...slot, nvme_mounts: mountsOf(slot, hasFault) })),
    left_out: [
      ...hardware.slots
        .filter((slot) => isLost(slot, hasFault))
        .map((slot) => ({
          device: slot.gpu_pci_address,
          kind: 'gpu' as const,
          code: 'gpu_lost' as const,
          reason: 'the GPU does not answer on the bus; reset or repair the host',
        })),
      ...hardware.bootDisks.map(({ serial, device }) => ({
        device: `${device} (${serial})`,
        kind: 'disk' as const,
        code: 'boot_disk' as const,
        reason: 'the host runs from it: mounted on /, /boot/efi',
      })),
      ...hardware.nvSwitches.map((address) => ({
        device: address,
        kind: 'nvswitch' as const,
        code: 'nvswitch' as const,
        reason: 'NVSwitch 10de:22a3: belongs to the host fabric manager',
      })),
    ],
  };
}
