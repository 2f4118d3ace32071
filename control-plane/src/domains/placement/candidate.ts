import { buildSlotLayout, countFreeSlots, type SlotLayout, type FreeSlots } from './layout.ts';
import { MAX_SLOTS, toMask, type SlotMask } from './slot-mask.ts';
import { isComplete, isHealthy, type SlotFacts } from './slot-rules.ts';

export type CapacityShape = 'baremetal' | 'gpu_slice';

/** End time of a lease without an end. */
export const OPEN_ENDED = Infinity;

export interface PlacementRequest {
  shape: CapacityShape;
  gpus: number;
  /** Null matches any region. */
  region: string | null;
  gpuModel: string | null;
  now: number;
  /** When the lease will end, in the unit of `now`. */
  endsAt: number;
  /** Holders whose holds the request may use. */
  holders?: readonly string[];
}

/** A period in which only its holder may start a lease on the node. */
export interface NodeHold {
  holder: string;
  from: number;
  until: number;
}

export interface Lease {
  slots: SlotMask;
  endsAt: number;
}

export interface NodeFacts {
  nodeId: string;
  region: string;
  gpuModel: string;
  /** Shapes that the node's mode supports. */
  serves: readonly CapacityShape[];
  connected: boolean;
  draining: boolean;
  /** Closed to new leases for another reason: burn-in, maintenance, a fault. */
  cordoned: boolean;
  promises?: readonly NodeHold[];
}

/** A node as placement sees it. */
export interface Candidate extends NodeFacts {
  layout: SlotLayout;
  /** Slots in state `available`, even if unhealthy or incomplete. */
  available: SlotMask;
  /** Slots that are completely configured, in any state. */
  configured: SlotMask;
  /** Healthy slots, in any state. */
  healthy: SlotMask;
  /** Slots that are available, configured and healthy, and so can be leased now. */
  free: SlotMask;
  room: FreeSlots;
  leases: readonly Lease[];
  /** End of its last lease; `OPEN_ENDED` if one has no end, minus infinity without leases. */
  busyUntil: number;
  /** End of its first lease; infinity if no end is known. */
  nextEnd: number;
}

/** A candidate from the rows of a node's approved slots. */
export function candidateFromSlots(
  facts: NodeFacts,
  slots: readonly SlotFacts[],
  leases: readonly Lease[],
): Candidate {
  const known = slots.filter(({ slotIndex }) => slotIndex >= 0 && slotIndex < MAX_SLOTS);
  const layout = buildSlotLayout(
    groupsBy(known, ({ numaNode }) => numaNode),
    groupsBy(known, ({ pcieRoot }) => pcieRoot),
  );
  return candidate(facts, layout, leases, {
    available: slotsMask(known.filter(({ state }) => state === 'available')),
    configured: slotsMask(known.filter(isComplete)),
    healthy: slotsMask(known.filter(isHealthy)),
  });
}

export function candidate(
  facts: NodeFacts,
  layout: SlotLayout,
  leases: readonly Lease[],
  slots: Pick<Candidate, 'available' | 'configured' | 'healthy'>,
): Candidate {
  const busyUntil = leases.reduce((latest, lease) => Math.max(latest, lease.endsAt), -Infinity);
  const nextEnd = leases.reduce((soonest, lease) => Math.min(soonest, lease.endsAt), Infinity);
  const { available, configured, healthy } = slots;
  const free = available & configured & healthy;
  const room = countFreeSlots(layout, free);
  return { ...facts, available, configured, healthy, free, layout, leases, busyUntil, nextEnd, room };
}

/** Slots that the request needs on a node: for a whole node all of them. */
export function requiredSlots(request: PlacementRequest, node: Candidate): number {
  return request.shape === 'baremetal' ? node.layout.size : request.gpus;
}

/** Of the needed slots, those that the node can have at all; its size is checked separately. */
export function requiredSlotsOnNode(request: PlacementRequest, node: Candidate): number {
  return Math.min(requiredSlots(request, node), node.layout.size);
}

function slotsMask(slots: readonly SlotFacts[]): SlotMask {
  return toMask(slots.map(({ slotIndex }) => slotIndex));
}

function groupsBy(slots: readonly SlotFacts[], key: (slot: SlotFacts) => number | string): SlotMask[] {
  return [...Map.groupBy(slots, key).values()].map(slotsMask).toSorted((a, b) => (a & -a) - (b & -b));
}
