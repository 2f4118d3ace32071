import { filters, type NodeFilter } from './filters.ts';
import { chooseSlots } from './choose-slots.ts';

export interface CandidateSlot {
  slotId: string;
  slotIndex: number;
  numaNode: number;
  pcieRoot: string;
}

/** A node as placement sees it: facts and the slots that may be sold. */
export interface CandidateNode {
  nodeId: string;
  hostname: string;
  region: string;
  mode: string;
  connected: boolean;
  draining: boolean;
  gpuModel: string;
  freeSlots: CandidateSlot[];
}

export interface SliceRequest {
  region: string;
  gpuModel: string;
  gpuCount: number;
}

export interface Rejection {
  filter: string;
  reason: string;
  nodes: number;
}

export type Placement =
  | { fits: true; nodeId: string; slotIds: string[] }
  | { fits: false; rejections: Rejection[]; largestSlice: number };

/**
 * Chooses one node and its slots, or says why nothing fits. Pure and deterministic: the same input gives the
 * same answer, whatever the order of the nodes.
 */
export function placeSlice(request: SliceRequest, nodes: readonly CandidateNode[]): Placement {
  const { survivors, rejections } = applyFilters(request, nodes);
  const best = survivors.toSorted(bestFit)[0];
  if (!best) return { fits: false, rejections, largestSlice: largestSlice(request, nodes) };
  return {
    fits: true,
    nodeId: best.nodeId,
    slotIds: chooseSlots(best.freeSlots, request.gpuCount).map((s) => s.slotId),
  };
}

/** Smallest leftover first: partly used nodes fill up and clean nodes stay clean for baremetal. */
function bestFit(a: CandidateNode, b: CandidateNode): number {
  return a.freeSlots.length - b.freeSlots.length || compareText(a.nodeId, b.nodeId);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function applyFilters(
  request: SliceRequest,
  nodes: readonly CandidateNode[],
): { survivors: CandidateNode[]; rejections: Rejection[] } {
  let survivors = [...nodes];
  const rejections: Rejection[] = [];
  for (const filter of filters) {
    const kept = survivors.filter((node) => filter.keeps(request, node));
    const rejected = survivors.length - kept.length;
    if (rejected > 0) rejections.push({ filter: filter.name, reason: filter.reason, nodes: rejected });
    survivors = kept;
  }
  return { survivors, rejections };
}

/** Most GPUs that one node could give right now, other filters being equal. */
function largestSlice(request: SliceRequest, nodes: readonly CandidateNode[]): number {
  const others: NodeFilter[] = filters.filter((filter) => filter.name !== 'enough_free_slots');
  const usable = nodes.filter((node) => others.every((filter) => filter.keeps(request, node)));
  return Math.max(0, ...usable.map((node) => node.freeSlots.length));
}
