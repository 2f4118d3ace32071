import { join } from 'node:path';
import type { VmPlan } from '../../../slices/plan-vm.ts';

export function consoleFile(guestFolder: string): string {
  return join(guestFolder, 'console.log');
}

/** Boot messages of a machine with this plan. */
export function bootLines(plan: VmPlan, fingerprint: string, memoryLimit: string): string {
  const gpus = plan.slots.map(
    ({ gpu_pci_address }) => `nvidia ${gpu_pci_address}: enabling device (SIMULATED)`,
  );
  const kernel = [
    'Linux version 6.8.0-gpuaas (SIMULATED machine)',
    `Memory: ${plan.memory_gib}G, ${plan.vcpu} CPUs`,
    `${memoryLimit} (SIMULATED)`,
    ...gpus,
  ].map((line, index) => `[${(index * 0.217).toFixed(6).padStart(12)}] ${line}`);
  return [
    ...kernel,
    `cloud-init: image ${plan.image.name}`,
    `ci-info: SSH host key ${fingerprint}`,
    '',
    `${plan.hostname} login: `,
    '',
  ].join('\n');
}
