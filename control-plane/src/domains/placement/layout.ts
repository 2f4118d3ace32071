import { countSlots, type SlotMask } from './slot-mask.ts';

/** How a slice of some size would fit into the free slots of a node. */
export interface SliceFit {
  /** Free slots left on the node. */
  leftover: number;
  /** NUMA nodes it spans beyond the fewest that its size needs there. */
  crossings: number;
  /** Free slots left in the NUMA nodes that it uses. */
  leftoverInNuma: number;
}

/** Free slots of a node as counts per NUMA node; all that ranking needs. */
export interface FreeSlots {
  key: string;
  free: number;
  perNuma: readonly number[];
  /** Fit by slice size; computed on demand. */
  fits: (SliceFit | undefined)[];
}

/** Where the slots of a node sit. Nodes that are built alike share one layout. */
export interface SlotLayout {
  key: string;
  size: number;
  all: SlotMask;
  numa: readonly SlotMask[];
  pcieRoots: readonly SlotMask[];
  rooms: Map<string, FreeSlots>;
}

const layouts = new Map<string, SlotLayout>();

/** The layout of slots grouped by NUMA node and by PCIe root. */
export function buildSlotLayout(numa: readonly SlotMask[], pcieRoots: readonly SlotMask[]): SlotLayout {
  const key = `${numa.join(',')}/${pcieRoots.join(',')}`;
  const known = layouts.get(key);
  if (known) return known;
  const all = numa.reduce((mask, group) => mask | group, 0);
  const layout = { key, size: countSlots(all), all, numa, pcieRoots, rooms: new Map() };
  layouts.set(key, layout);
  return layout;
}

export function countFreeSlots(layout: SlotLayout, free: SlotMask): FreeSlots {
  const perNuma = layout.numa.map((group) => countSlots(free & group));
  const key = perNuma.join(',');
  const known = layout.rooms.get(key);
  if (known) return known;
  const room = { key, free: countSlots(free & layout.all), perNuma, fits: [] };
  layout.rooms.set(key, room);
  return room;
}

/** Fit of `gpus` slots; the node must have that many free. */
export function fitSlice(layout: SlotLayout, room: FreeSlots, gpus: number): SliceFit {
  return (room.fits[gpus] ??= computeFit(layout, room, gpus));
}

function computeFit(layout: SlotLayout, room: FreeSlots, gpus: number): SliceFit {
  const tightest = Math.min(...room.perNuma.filter((free) => free >= gpus));
  const leftover = room.free - gpus;
  if (Number.isFinite(tightest)) return { leftover, crossings: 0, leftoverInNuma: tightest - gpus };
  const used = spanOf(room.perNuma, gpus);
  const fewest = spanOf(layout.numa.map(countSlots), gpus).length;
  const freeThere = used.reduce((sum, free) => sum + free, 0);
  return { leftover, crossings: used.length - fewest, leftoverInNuma: freeThere - gpus };
}

/** The fewest groups that hold `gpus` together, largest first. */
function spanOf(groups: readonly number[], gpus: number): number[] {
  const used: number[] = [];
  let missing = gpus;
  for (const group of groups.toSorted((a, b) => b - a)) {
    if (missing <= 0) break;
    used.push(group);
    missing -= group;
  }
  return used;
}
