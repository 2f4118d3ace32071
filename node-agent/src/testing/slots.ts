import { randomUUID } from 'node:crypto';
import type { SlotBundle, TaskParams } from '@gpuaas/contracts/tasks';
import { describeHardware } from '../host/simulated/hardware.ts';

/** Approved slots of the simulated host, as the platform would send them. */
export function slotBundles(hostname: string, indexes: readonly number[]): SlotBundle[] {
  return describeHardware(hostname)
    .slots.filter((slot) => indexes.includes(slot.slot_index))
    .map(({ gpu_model: _model, iommu_group: _group, pcie_root: _root, ...slot }) => ({
      slot_id: randomUUID(),
      ...slot,
    }));
}

export function provisionParams(
  hostname: string,
  indexes: readonly number[],
  authorizedKeys: string[],
): TaskParams['slice.vm_provision'] {
  return {
    allocation_id: randomUUID(),
    hostname: 'train-01',
    image: { name: 'H200-ubuntu-24.04-gpuaas-slice', digest: `sha256:${'ab'.repeat(32)}` },
    slots: slotBundles(hostname, indexes),
    vcpu: 24 * indexes.length,
    memory_gib: 240 * indexes.length,
    username: 'ubuntu',
    ssh_authorized_keys: authorizedKeys,
    readiness_checks: [],
  };
}
