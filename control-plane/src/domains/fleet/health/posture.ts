import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { first, present } from '../../../platform/present.ts';

export type Posture = components['schemas']['Posture'];
export type SlotState = components['schemas']['SlotState'];
export type SlotCounts = Record<SlotState, number>;

export interface PostureInput {
  /** Null before the first promotion. */
  mode: 'slice' | 'baremetal' | null;
  connected: boolean;
  draining: boolean;
  /** Why the host is cordoned, gravest first; empty when it is not. */
  cordons: readonly string[];
  exclusivelyClaimed: boolean;
  /** A baremetal lease has ended and its cleanup is not proven. */
  hostCleanupBlocked: boolean;
  slots: SlotCounts;
  /** How many of the available slots are unhealthy and therefore not for sale. */
  unhealthyAvailable: number;
}

interface Rule {
  posture: Posture;
  reason(input: PostureInput): string;
  holds(input: PostureInput): boolean;
}

/** The first rule that applies names the posture. It is derived on every read, never stored. */
const rules: readonly Rule[] = [
  { posture: 'unavailable', reason: () => 'The host is not reachable.', holds: (i) => !i.connected },
  { posture: 'unavailable', reason: (i) => first(i.cordons, 'cordon'), holds: (i) => i.cordons.length > 0 },
  {
    posture: 'unavailable',
    reason: () => 'The host has no mode yet; convert it to slices or to bare metal.',
    holds: (i) => i.mode === null,
  },
  {
    posture: 'unavailable',
    reason: () => 'No slot is approved.',
    holds: (i) => slices(i) && total(i.slots) - i.slots.disabled === 0,
  },
  {
    posture: 'unavailable',
    reason: () => 'No slot is healthy.',
    holds: (i) => slices(i) && taken(i.slots) === 0 && forSale(i) === 0,
  },
  {
    posture: 'unavailable',
    reason: () => 'No whole-node offer is approved.',
    holds: (i) => wholeNode(i) && taken(i.slots) + i.slots.available === 0,
  },
  {
    posture: 'unavailable',
    reason: (i) => `${i.unhealthyAvailable} GPUs of the host are unhealthy.`,
    holds: (i) => wholeNode(i) && taken(i.slots) === 0 && i.unhealthyAvailable > 0,
  },
  {
    posture: 'cleanup_blocked',
    reason: () => 'The cleanup of the host is not verified.',
    holds: (i) => i.hostCleanupBlocked,
  },
  {
    posture: 'cleanup_blocked',
    reason: () => 'All slots are quarantined until their cleanup is verified.',
    holds: ({ slots }) =>
      slots.cleanup_blocked > 0 && slots.cleanup_blocked + slots.disabled === total(slots),
  },
  {
    posture: 'draining',
    reason: () => 'No new placements; existing allocations continue.',
    holds: (i) => i.draining,
  },
  {
    posture: 'exclusively_allocated_by_baremetal',
    reason: () => 'One baremetal allocation holds the whole host.',
    holds: (i) => i.exclusivelyClaimed,
  },
  {
    posture: 'fully_allocated_by_slices',
    reason: ({ slots }) => `No slot is free: ${countsInWords(slots)}.`,
    holds: (i) => taken(i.slots) > 0 && forSale(i) === 0,
  },
  {
    posture: 'partially_allocated',
    reason: ({ slots }) => `Some slots are free: ${countsInWords(slots)}.`,
    holds: (i) => taken(i.slots) > 0,
  },
  {
    posture: 'fully_available',
    reason: () => 'All slots are available.',
    holds: () => true,
  },
];

export function postureOf(input: PostureInput): { posture: Posture; reason: string } {
  const { posture, reason } = present(
    rules.find((rule) => rule.holds(input)),
    'rule that holds',
  );
  return { posture, reason: reason(input) };
}

export function emptySlotCounts(): SlotCounts {
  return { disabled: 0, available: 0, reserved: 0, in_use: 0, cleaning: 0, cleanup_blocked: 0 };
}

const WORDS: readonly [SlotState, string][] = [
  ['available', 'available'],
  ['reserved', 'reserved'],
  ['in_use', 'in use'],
  ['cleaning', 'being wiped'],
  ['cleanup_blocked', 'quarantined until the cleanup is verified'],
];

/** Counts of the approved slots, such as `5 of 8 in use, 1 of 8 being wiped`. */
function countsInWords(slots: SlotCounts): string {
  const approved = total(slots) - slots.disabled;
  return WORDS.filter(([state]) => slots[state] > 0)
    .map(([state, words]) => `${slots[state]} of ${approved} ${words}`)
    .join(', ');
}

function wholeNode({ mode, exclusivelyClaimed, hostCleanupBlocked }: PostureInput): boolean {
  return mode === 'baremetal' && !exclusivelyClaimed && !hostCleanupBlocked;
}

function slices(input: PostureInput): boolean {
  return input.mode === 'slice' && !input.exclusivelyClaimed;
}

function forSale({ slots, unhealthyAvailable }: PostureInput): number {
  return slots.available - unhealthyAvailable;
}

function taken(slots: SlotCounts): number {
  return slots.reserved + slots.in_use + slots.cleaning + slots.cleanup_blocked;
}

function total(slots: SlotCounts): number {
  return Object.values(slots).reduce((sum, count) => sum + count, 0);
}
