import type { SlotBundle, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
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

/** The plan as evidence: which devices the machine gets, how large it is, and what it boots from. */
export function recordPlan(plan: VmPlan): NonNullable<TaskOutput['slice.vm_provision']['plan']> {
  return {
    vcpu: plan.vcpu,
    memory_gib: plan.memory_gib,
    image_digest: plan.image.digest,
    boot_disk_serial: plan.boot_slot.nvme_serial,
    slots: plan.slots.map((slot) => ({
      slot_id: slot.slot_id,
      slot_index: slot.slot_index,
      gpu_pci_address: slot.gpu_pci_address,
      fabric_vf_pci_address: slot.fabric_vf_pci_address,
      nvme_serial: slot.nvme_serial,
      numa_node: slot.numa_node,
    })),
  };
}

export function describePlan(plan: VmPlan): string {
  const gpus = plan.slots.map((slot) => slot.gpu_pci_address).join(' ');
  const numa = [...new Set(plan.slots.map((slot) => slot.numa_node))].join('+');
  return (
    `${plan.slots.length} GPU (${gpus}) on NUMA ${numa}, ${plan.vcpu} vCPU, ${plan.memory_gib} GiB, ` +
    `boot disk ${plan.boot_slot.nvme_serial}, address ${plan.boot_slot.private_ip}`
  );
}
