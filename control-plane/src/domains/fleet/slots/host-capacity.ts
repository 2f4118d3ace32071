import type { TaskOutput } from '@gpuaas/contracts/tasks';
import type { SliceProfile } from '../../catalog/slice-profile.ts';
import type { ApprovalViolation } from './approval-rules.ts';

type Inventory = NonNullable<TaskOutput['slice.topology_discover']['inventory']>;

const KIB_PER_GIB = 1024 * 1024;

/** What slots may add up to on a host of this inventory. */
export function sellableCapacity(
  { cpu, memory_kib }: Pick<Inventory, 'cpu' | 'memory_kib'>,
  reserve: SliceProfile,
): SliceProfile {
  return {
    vcpu: Math.max(0, cpu.threads - reserve.vcpu),
    memoryGib: Math.max(0, Math.floor(memory_kib / KIB_PER_GIB) - reserve.memoryGib),
  };
}

/** Why the slots do not fit into the host; empty if they fit. `profiles` has every slot, held and asked for. */
export function capacityViolations(
  sellable: SliceProfile | null,
  profiles: readonly SliceProfile[],
): ApprovalViolation[] {
  if (!sellable) {
    const detail = 'The discovery measured no processors and memory; update the agent and discover again.';
    return [{ pointer: '/inventory', code: 'host_not_measured', detail }];
  }
  const vcpu = profiles.reduce((sum, profile) => sum + profile.vcpu, 0);
  const memory = profiles.reduce((sum, profile) => sum + profile.memoryGib, 0);
  return [
    ...(vcpu > sellable.vcpu
      ? [
          {
            pointer: '/inventory/cpu',
            code: 'host_cpu_exceeded',
            detail: `The slots need ${vcpu} vCPU, of which the host can give ${sellable.vcpu}.`,
          },
        ]
      : []),
    ...(memory > sellable.memoryGib
      ? [
          {
            pointer: '/inventory/memory_kib',
            code: 'host_memory_exceeded',
            detail: `The slots need ${memory} GiB of memory, of which the host can give ${sellable.memoryGib}.`,
          },
        ]
      : []),
  ];
}

const NO_RESERVE: SliceProfile = { vcpu: 0, memoryGib: 0 };

/** What a host has lost of what its slots were approved with, such as a failed memory module; empty if nothing. */
export function capacityLosses(
  inventory: Inventory | undefined,
  slots: readonly { vcpu: number; memory_gib: number }[],
): string[] {
  if (!inventory) return [];
  const profiles = slots.map(({ vcpu, memory_gib }) => ({ vcpu, memoryGib: memory_gib }));
  return capacityViolations(sellableCapacity(inventory, NO_RESERVE), profiles).map(({ detail }) => detail);
}
