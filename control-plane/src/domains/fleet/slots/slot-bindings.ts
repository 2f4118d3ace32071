import type { CandidateSlot } from '@gpuaas/contracts/tasks';

/** Columns of a slot that come from a candidate. Call it only for a candidate without violations. */
export function slotBindings(slot: CandidateSlot, destructiveWipePolicy: string) {
  return {
    gpu_model: slot.gpu_model,
    gpu_pci_address: slot.gpu_pci_address,
    gpu_serial: slot.gpu_serial ?? null,
    fabric_vf_pci_address: slot.fabric_vf_pci_address!,
    nvme_serial: slot.nvme_serial!,
    nvme_device: slot.nvme_device!,
    management_mac: slot.management_mac,
    private_ip: slot.private_ip,
    ovs_port: slot.ovs_port,
    numa_node: slot.numa_node,
    pcie_root: slot.pcie_root,
    capacity_metadata: JSON.stringify({
      fabric_claim_mode: 'per_slot_vf',
      destructive_wipe_policy: destructiveWipePolicy,
    }),
  };
}
