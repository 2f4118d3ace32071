import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Observed } from './record-heartbeat.ts';

export type SlotStates = components['schemas']['SlotStates'];

export interface SlotStatesInput {
  slot: { id: string; desired_state: string; gpu_pci_address: string; nvme_serial: string };
  /** What an unreachable host said is no evidence of now. */
  connected: boolean;
  observed: Observed;
  /** What the workflow of the allocation that holds the slot does; null when nobody holds it. */
  execution: string | null;
  projected: { state: string; projectedAt: Date } | null;
}

/** What is wanted of a slot, what its host shows of it, what works on it and what lists last showed. */
export function fourStatesOfSlot(input: SlotStatesInput): SlotStates {
  const { projected } = input;
  return {
    desired: input.slot.desired_state as SlotStates['desired'],
    observed: observedOf(input),
    execution: input.execution ?? 'idle',
    projected: projected && {
      state: projected.state as NonNullable<SlotStates['projected']>['state'],
      projected_at: projected.projectedAt.toISOString(),
    },
  };
}

/** A heartbeat that does not list a kind of device did not look at it. */
function observedOf({ slot, connected, observed }: SlotStatesInput): SlotStates['observed'] {
  if (!connected) return 'unknown';
  const gpu = observed.gpus?.find(({ pci_address }) => pci_address === slot.gpu_pci_address);
  if (observed.gpus && (!gpu || gpu.state === 'lost')) return 'missing';
  if (observed.disks && !observed.disks.some(({ serial }) => serial === slot.nvme_serial)) return 'missing';
  if (gpu?.state === 'failing') return 'failing';
  if (!observed.leases) return 'unknown';
  return observed.leases.some(({ slot_id }) => slot_id === slot.id) ? 'occupied' : 'vacant';
}
