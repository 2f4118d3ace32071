import type { Topology } from '../host.ts';
import type { HasFault } from './faults.ts';
import type { SimulatedHardware, SimulatedSlot } from './hardware.ts';

/** The slot whose disk a host administrator "forgot" under the fault `disk_mounted`. */
const MOUNTED_SLOT = 7;

export function mountsOf(slot: SimulatedSlot, hasFault: HasFault): string[] {
  return slot.slot_index === MOUNTED_SLOT && hasFault('disk_mounted') ? ['/srv/scratch'] : [];
}

export function surveyTopology(hardware: SimulatedHardware, hasFault: HasFault): Topology {
  return {
    approval_required: true,
    candidates: hardware.slots.map((slot) => ({ ...slot, nvme_mounts: mountsOf(slot, hasFault) })),
    left_out: [
      ...hardware.bootDisks.map(({ serial, device }) => ({
        device: `${device} (${serial})`,
        reason: 'boot disk of the host (mounted on /, /boot/efi)',
      })),
      ...hardware.nvSwitches.map((address) => ({
        device: address,
        reason: 'NVSwitch 10de:22a3: belongs to the host fabric manager',
      })),
    ],
  };
}
