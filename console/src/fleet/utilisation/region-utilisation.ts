import type { Node } from '../../api/types.ts';

export interface RegionUtilisation {
  region: string;
  hosts: number;
  /** Leased slots. */
  sold: number;
  free: number;
  /** Free slots on hosts that get no new placements. */
  held: number;
  cleaning: number;
  blocked: number;
  disabled: number;
  total: number;
}

/** Slots of each region by commercial state, in the order of region names. */
export function utilisationByRegion(nodes: Node[]): RegionUtilisation[] {
  const byRegion = Map.groupBy(nodes, ({ region }) => region);
  return [...byRegion]
    .map(([region, hosts]) => regionByUse(region, hosts))
    .toSorted((a, b) => (a.region < b.region ? -1 : 1));
}

function regionByUse(region: string, nodes: Node[]): RegionUtilisation {
  const use = {
    region,
    hosts: nodes.length,
    sold: 0,
    free: 0,
    held: 0,
    cleaning: 0,
    blocked: 0,
    disabled: 0,
    total: 0,
  };
  for (const node of nodes) {
    const counts = node.slot_counts;
    use.sold += counts.in_use + counts.reserved;
    if (isSold(node)) use.free += counts.available;
    else use.held += counts.available;
    use.cleaning += counts.cleaning;
    use.blocked += counts.cleanup_blocked;
    use.disabled += counts.disabled;
  }
  use.total = use.sold + use.free + use.held + use.cleaning + use.blocked + use.disabled;
  return use;
}

/** Number of hosts by free slots: `[hosts with none, with one, …]`. */
export function freeByHost(nodes: Node[]): number[] {
  const free = nodes.filter(isSold).map(({ slot_counts: counts }) => counts.available);
  return Array.from(
    { length: Math.max(8, ...free) + 1 },
    (_, count) => free.filter((one) => one === count).length,
  );
}

/**
 * Share of free GPUs that no launch of this size can use because of fragmentation; null when none is free.
 */
export function fragmentedShare(nodes: Node[], gpus: number): number | null {
  const free = nodes.filter(isSold).map(({ slot_counts: counts }) => counts.available);
  const all = free.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  const usable = free.reduce((sum, count) => sum + Math.floor(count / gpus) * gpus, 0);
  return 1 - usable / all;
}

/** Whether something new is placed on it. */
function isSold({ draining, cordons, connection }: Node): boolean {
  return !draining && cordons.length === 0 && connection === 'connected';
}
