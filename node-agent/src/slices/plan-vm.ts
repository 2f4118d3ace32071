import type { SlotBundle, TaskParams } from '@gpuaas/contracts/tasks';
import { TaskError } from '../tasks/task-error.ts';

export type VmPlan = TaskParams['slice.vm_provision'] & {
  /** The slot whose disk holds the image and whose network is the VM's. */
  boot_slot: SlotBundle;
};

const OWN_PER_SLOT = [
  'slot_id',
  'gpu_pci_address',
  'fabric_vf_pci_address',
  'nvme_serial',
  'nvme_device',
  'management_mac',
  'private_ip',
  'ovs_port',
] as const;

/** The concrete plan of a bundle: slot order, boot disk, and no device shared between slots. */
export function planVm(params: TaskParams['slice.vm_provision']): VmPlan {
  const slots = params.slots.toSorted((a, b) => a.slot_index - b.slot_index);
  for (const part of OWN_PER_SLOT) {
    if (new Set(slots.map((slot) => slot[part])).size !== slots.length) {
      throw new TaskError('plan_refused', `two slots of the bundle share the same ${part}`);
    }
  }
  const [boot_slot] = slots;
  if (!boot_slot) throw new TaskError('plan_refused', 'the bundle has no slots');
  return { ...params, slots, boot_slot };
}

export function describePlan(plan: VmPlan): string {
  const gpus = plan.slots.map((slot) => slot.gpu_pci_address).join(' ');
  const numa = [...new Set(plan.slots.map((slot) => slot.numa_node))].join('+');
  return (
    `${plan.slots.length} GPU (${gpus}) on NUMA ${numa}, ${plan.vcpu} vCPU, ${plan.memory_gib} GiB, ` +
    `boot disk ${plan.boot_slot.nvme_serial}, address ${plan.boot_slot.private_ip}`
  );
}
