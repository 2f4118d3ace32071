import { countOf, type SlotMask } from './slot-mask.ts';

/** How a slice of some size would sit in what is free on a node. */
export interface Fit {
  /** Free slots left on the node. */
  leftover: number;
  /** NUMA nodes it spans beyond the fewest that its size needs there. */
  crossings: number;
  /** Free slots left in the NUMA nodes that it uses. */
  leftoverInNuma: number;
}

/** What is free on a node, as counts per NUMA node; all that ranking needs to know of it. */
export interface Room {
  key: string;
  free: number;
  perNuma: readonly number[];
  /** Fit by slice size; filled when asked for. */
  fits: (Fit | undefined)[];
}

/** Where the slots of a node sit. Nodes that are built alike share one layout. */
export interface Layout {
  key: string;
  size: number;
  all: SlotMask;
  numa: readonly SlotMask[];
  pcieRoots: readonly SlotMask[];
  rooms: Map<string, Room>;
}

const layouts = new Map<string, Layout>();

/** The layout of slots grouped by NUMA node and by PCIe root. */
export function layoutOf(numa: readonly SlotMask[], pcieRoots: readonly SlotMask[]): Layout {
  const key = `${numa.join(',')}/${pcieRoots.join(',')}`;
  const known = layouts.get(key);
  if (known) return known;
  const all = numa.reduce((mask, group) => mask | group, 0);
  const layout = { key, size: countOf(all), all, numa, pcieRoots, rooms: new Map() };
  layouts.set(key, layout);
  return layout;
}

export function roomOf(layout: Layout, free: SlotMask): Room {
  const perNuma = layout.numa.map((group) => countOf(free & group));
  const key = perNuma.join(',');
  const known = layout.rooms.get(key);
  if (known) return known;
  const room = { key, free: countOf(free & layout.all), perNuma, fits: [] };
  layout.rooms.set(key, room);
  return room;
}

/** How `gpus` slots would sit; the room must have that many. */
export function fitOf(layout: Layout, room: Room, gpus: number): Fit {
  return (room.fits[gpus] ??= computeFit(layout, room, gpus));
}

function computeFit(layout: Layout, room: Room, gpus: number): Fit {
  const tightest = Math.min(...room.perNuma.filter((free) => free >= gpus));
  const leftover = room.free - gpus;
  if (Number.isFinite(tightest)) return { leftover, crossings: 0, leftoverInNuma: tightest - gpus };
  const used = spanOf(room.perNuma, gpus);
  const fewest = spanOf(layout.numa.map(countOf), gpus).length;
  const freeThere = used.reduce((sum, free) => sum + free, 0);
  return { leftover, crossings: used.length - fewest, leftoverInNuma: freeThere - gpus };
}

/** The groups that hold `gpus` together when the fullest are taken first. */
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
