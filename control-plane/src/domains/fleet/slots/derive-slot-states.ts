import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { ObservedNode } from '../health/record-heartbeat.ts';

export type SlotStates = components['schemas']['SlotStates'];

export interface SlotStatesInput {
  slot: { id: string; desired_state: SlotStates['desired']; gpu_pci_address: string; nvme_serial: string };
  /** Reports of an unreachable host are no evidence of the present. */
  connected: boolean;
  observed: ObservedNode;
  /** Execution of the allocation that holds the slot; null if the slot is free. */
  execution: SlotStates['execution'] | null;
  projected: { state: components['schemas']['SlotState']; projectedAt: Date } | null;
}

/** Desired, observed, execution and projected state of a slot. */
export function deriveSlotStates(input: SlotStatesInput): SlotStates {
  const { projected } = input;
  return {
    desired: input.slot.desired_state,
    observed: observedOf(input),
    execution: input.execution ?? 'idle',
    projected: projected && {
      state: projected.state,
      projected_at: projected.projectedAt.toISOString(),
    },
  };
}

/** A heartbeat without a kind of device did not check that kind. */
function observedOf({ slot, connected, observed }: SlotStatesInput): SlotStates['observed'] {
  if (!connected) return 'unknown';
  const gpu = observed.gpus?.find(({ pci_address }) => pci_address === slot.gpu_pci_address);
  if (observed.gpus && (!gpu || gpu.state === 'lost')) return 'missing';
  if (observed.disks && !observed.disks.some(({ serial }) => serial === slot.nvme_serial)) return 'missing';
  if (gpu?.state === 'failing') return 'failing';
  if (!observed.leases) return 'unknown';
  return observed.leases.some(({ slot_id }) => slot_id === slot.id) ? 'occupied' : 'vacant';
}
