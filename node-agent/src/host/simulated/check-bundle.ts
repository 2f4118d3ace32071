import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { VmPlan } from '../../slices/plan-vm.ts';
import { TaskError } from '../../tasks/task-error.ts';
import { isLost, mountsOf, type HasFault } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';

/** Hardware facts of an approved slot that must still hold when it is used. */
const HARDWARE_FACTS = [
  'gpu_pci_address',
  'fabric_vf_pci_address',
  'nvme_serial',
  'nvme_device',
  'numa_node',
] as const;

export function checkBundle(plan: VmPlan, hardware: SimulatedHardware, hasFault: HasFault): void {
  for (const slot of plan.slots) checkSlot(slot, hardware, hasFault);
}

function checkSlot(slot: SlotBundle, hardware: SimulatedHardware, hasFault: HasFault): void {
  const own = hardware.slots.find((candidate) => candidate.gpu_pci_address === slot.gpu_pci_address);
  if (!own) throw new TaskError('plan_refused', `there is no GPU at ${slot.gpu_pci_address} in this host`);
  if (isLost(own, hasFault)) {
    throw new TaskError('gpu_lost', `the GPU at ${slot.gpu_pci_address} does not answer on the bus`);
  }
  for (const fact of HARDWARE_FACTS) {
    if (own[fact] === slot[fact]) continue;
    throw new TaskError(
      'plan_refused',
      `slot ${slot.slot_index}: ${fact} is ${own[fact]} in this host, not ${slot[fact]}; discover and approve again`,
    );
  }
  const mounts = mountsOf(own, hasFault);
  if (mounts.length > 0) {
    throw new TaskError('disk_mounted', `disk ${own.nvme_serial} is mounted on ${mounts.join(', ')}`);
  }
}
