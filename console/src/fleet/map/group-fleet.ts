import type { Node } from '../../api/types.ts';
import type { FleetMapSearch } from '../../search-params.ts';

export interface Rack {
  rack: string;
  nodes: Node[];
}

export interface FleetRegion {
  region: string;
  racks: Rack[];
  nodes: number;
  slots: number;
  free: number;
}

/** Hosts by region and rack, each in the order of their names. */
export function groupFleet(nodes: Node[]): FleetRegion[] {
  const regions = new Map<string, Map<string, Node[]>>();
  for (const node of nodes) {
    const racks = regions.get(node.region) ?? new Map<string, Node[]>();
    regions.set(node.region, racks);
    racks.set(node.rack, [...(racks.get(node.rack) ?? []), node]);
  }
  return byName(regions).map(([region, racks]) => {
    const all = [...racks.values()].flat();
    return {
      region,
      racks: byName(racks).map(([rack, members]) => ({
        rack,
        nodes: members.toSorted((a, b) => order(a.hostname, b.hostname)),
      })),
      nodes: all.length,
      slots: sum(all, ({ slot_counts: counts }) => sum(Object.values(counts), (count) => count)),
      free: sum(all, ({ slot_counts: counts }) => counts.available),
    };
  });
}

/** Hosts that match the map's filter. */
export function filterFleet(nodes: Node[], { find, region, posture }: FleetMapSearch): Node[] {
  const wanted = find?.toLowerCase() ?? '';
  return nodes.filter(
    (node) =>
      (!region || node.region === region) &&
      (!posture || node.posture === posture) &&
      `${node.hostname} ${node.rack} ${node.pool}`.toLowerCase().includes(wanted),
  );
}

function byName<Value>(groups: Map<string, Value>): [string, Value][] {
  return [...groups].toSorted(([a], [b]) => order(a, b));
}

function order(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function sum<Item>(items: Item[], amount: (item: Item) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
