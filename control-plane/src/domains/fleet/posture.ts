import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type Posture = components['schemas']['Posture'];
export type SlotState = components['schemas']['SlotState'];
export type SlotCounts = Record<SlotState, number>;

export interface PostureInput {
  connected: boolean;
  draining: boolean;
  exclusivelyClaimed: boolean;
  slots: SlotCounts;
}

/** The first rule that holds names the posture. It is derived at every look, never stored. */
const rules: readonly { posture: Posture; reason: string; holds(input: PostureInput): boolean }[] = [
  { posture: 'unavailable', reason: 'The host is not reachable.', holds: (i) => !i.connected },
  {
    posture: 'unavailable',
    reason: 'No slot is approved.',
    holds: (i) => total(i.slots) - i.slots.disabled === 0,
  },
  {
    posture: 'cleanup_blocked',
    reason: 'No slot is usable until its cleanup is proven.',
    holds: (i) =>
      i.slots.cleanup_blocked > 0 && i.slots.cleanup_blocked + i.slots.disabled === total(i.slots),
  },
  {
    posture: 'draining',
    reason: 'Existing allocations continue, new placement stops.',
    holds: (i) => i.draining,
  },
  {
    posture: 'exclusively_allocated_by_baremetal',
    reason: 'One baremetal allocation holds the whole host.',
    holds: (i) => i.exclusivelyClaimed,
  },
  {
    posture: 'fully_allocated_by_slices',
    reason: 'No slot is left to sell.',
    holds: (i) => i.slots.available === 0,
  },
  {
    posture: 'partially_allocated',
    reason: 'Some slots are taken.',
    holds: (i) => i.slots.reserved + i.slots.in_use + i.slots.cleaning + i.slots.cleanup_blocked > 0,
  },
  { posture: 'fully_available', reason: 'Nothing is claimed and the host may be sold.', holds: () => true },
];

export function postureOf(input: PostureInput): { posture: Posture; reason: string } {
  const { posture, reason } = rules.find((rule) => rule.holds(input))!;
  return { posture, reason };
}

export function emptyCounts(): SlotCounts {
  return { disabled: 0, available: 0, reserved: 0, in_use: 0, cleaning: 0, cleanup_blocked: 0 };
}

function total(slots: SlotCounts): number {
  return Object.values(slots).reduce((sum, count) => sum + count, 0);
}
