import { layoutOf, roomOf, type Layout, type Room } from './layout.ts';
import { MAX_SLOTS, maskOf, type SlotMask } from './slot-mask.ts';
import { isComplete, isHealthy, type SlotFacts } from './slot-rules.ts';

export type CapacityShape = 'baremetal' | 'gpu_slice';

/** The end of a lease that has none. */
export const OPEN_ENDED = Infinity;

export interface PlacementRequest {
  shape: CapacityShape;
  gpus: number;
  /** Null takes any. */
  region: string | null;
  gpuModel: string | null;
  now: number;
  /** When the lease will end, in the unit of `now`. */
  endsAt: number;
  /** Whose promises it may use. */
  holders?: readonly string[];
}

/** A time in which only its holder may begin a lease on the node. */
export interface NodePromise {
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
  /** What the node's mode lets it serve. */
  serves: readonly CapacityShape[];
  connected: boolean;
  draining: boolean;
  /** Kept from new leases for another reason: burn-in, maintenance, a fault. */
  cordoned: boolean;
  promises?: readonly NodePromise[];
}

/** A node as placement sees it. */
export interface Candidate extends NodeFacts {
  layout: Layout;
  /** Slots whose state is `available`, whatever else is wrong with them. */
  available: SlotMask;
  /** Slots that are completely configured, whatever their state. */
  configured: SlotMask;
  /** Slots that are healthy, whatever their state. */
  healthy: SlotMask;
  /** Slots that are all three and so may be sold now. */
  free: SlotMask;
  room: Room;
  leases: readonly Lease[];
  /** When its last lease ends; `OPEN_ENDED` if one has no end, minus infinity without leases. */
  busyUntil: number;
  /** When its first lease ends; infinity if no end is known. */
  nextEnd: number;
}

/** A candidate from the rows of a node's approved slots. */
export function candidateFromSlots(
  facts: NodeFacts,
  slots: readonly SlotFacts[],
  leases: readonly Lease[],
): Candidate {
  const known = slots.filter(({ slotIndex }) => slotIndex >= 0 && slotIndex < MAX_SLOTS);
  const layout = layoutOf(
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
  layout: Layout,
  leases: readonly Lease[],
  slots: Pick<Candidate, 'available' | 'configured' | 'healthy'>,
): Candidate {
  const busyUntil = leases.reduce((latest, lease) => Math.max(latest, lease.endsAt), -Infinity);
  const nextEnd = leases.reduce((soonest, lease) => Math.min(soonest, lease.endsAt), Infinity);
  const { available, configured, healthy } = slots;
  const free = available & configured & healthy;
  const room = roomOf(layout, free);
  return { ...facts, available, configured, healthy, free, layout, leases, busyUntil, nextEnd, room };
}

/** Slots that the request takes on a node: a whole node is all of them. */
export function slotsWanted(request: PlacementRequest, node: Candidate): number {
  return request.shape === 'baremetal' ? node.layout.size : request.gpus;
}

/** Of the slots that it takes, those that the node has at all: its size is another matter. */
export function slotsWithin(request: PlacementRequest, node: Candidate): number {
  return Math.min(slotsWanted(request, node), node.layout.size);
}

function slotsMask(slots: readonly SlotFacts[]): SlotMask {
  return maskOf(slots.map(({ slotIndex }) => slotIndex));
}

function groupsBy(slots: readonly SlotFacts[], key: (slot: SlotFacts) => number | string): SlotMask[] {
  return [...Map.groupBy(slots, key).values()].map(slotsMask).toSorted((a, b) => (a & -a) - (b & -b));
}
