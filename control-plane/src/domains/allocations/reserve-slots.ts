import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { SlicePrice } from '../catalog/quote.ts';
import { lockFreeSlots, placementCandidates, type FleetNode } from '../fleet/placement-candidates.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import { place, type Placement } from '../placement/place.ts';
import { indexesOf } from '../placement/slot-mask.ts';
import { capacityRefusal } from './capacity-refusal.ts';

export interface Reservation {
  nodeId: string;
  slotIds: string[];
}

const QUICK_TRIES = 4;
/** Each lost try means that a rival won, so this many lose only to as many winners. */
const PATIENT_TRIES = 64;
const PATIENT_LOCK = 4_872_010;

/**
 * Ranks with the pure placement, then locks what it chose. A rival that holds the locks is stepped around
 * first; before refusing we wait for it, since it may roll back.
 */
export async function reserveSlots(
  policies: Policies,
  tx: Tx,
  request: PlacementRequest,
  offer: Pick<SlicePrice, 'allowedGpuCounts' | 'perGpuHour'>,
): Promise<Reservation> {
  const contested = new Set<string>();
  for (let attempt = 0; attempt < QUICK_TRIES + PATIENT_TRIES; attempt += 1) {
    const patient = attempt >= QUICK_TRIES;
    // The patient wait in one line instead of all at once for the same slots.
    if (attempt === QUICK_TRIES) await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(tx);
    // A fresh snapshot for each try: READ COMMITTED sees what rivals committed meanwhile.
    const nodes = await placementCandidates(policies, tx);
    const uncontested = patient ? nodes : nodes.filter((node) => !contested.has(node.nodeId));
    const placement = place(request, uncontested, offer.allowedGpuCounts);
    if (!placement.fits) {
      if (patient || contested.size === 0) throw capacityRefusal(request, placement, offer.perGpuHour);
      attempt = QUICK_TRIES - 1;
      continue;
    }
    const { nodeId, slotIds } = slotsChosen(nodes, placement);
    if (await lockFreeSlots(tx, slotIds, patient)) return { nodeId, slotIds };
    contested.add(nodeId);
  }
  const none = { fits: false as const, rejections: [], nearest: null, expectedAt: null };
  throw capacityRefusal(request, none, offer.perGpuHour);
}

function slotsChosen(nodes: FleetNode[], placement: Extract<Placement, { fits: true }>): Reservation {
  const { nodeId, slotIds } = nodes.find((node) => node.nodeId === placement.node.nodeId)!;
  return { nodeId, slotIds: indexesOf(placement.slots).map((index) => slotIds[index]!) };
}
