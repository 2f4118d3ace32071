import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { lockFreeSlots, placementCandidates } from '../fleet/placement-candidates.ts';
import { placeSlice, type Placement, type SliceRequest } from '../placement/place-slice.ts';

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
  request: SliceRequest,
  allowedGpuCounts: number[],
): Promise<Reservation> {
  const contested = new Set<string>();
  for (let attempt = 0; attempt < QUICK_TRIES + PATIENT_TRIES; attempt += 1) {
    const patient = attempt >= QUICK_TRIES;
    // The patient wait in one line instead of all at once for the same slots.
    if (attempt === QUICK_TRIES) await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(tx);
    // A fresh snapshot for each try: READ COMMITTED sees what rivals committed meanwhile.
    const nodes = await placementCandidates(policies, tx);
    const uncontested = patient ? nodes : nodes.filter((node) => !contested.has(node.nodeId));
    const placement = placeSlice(request, uncontested);
    if (!placement.fits) {
      if (patient || contested.size === 0) throw unavailable(request, placement, allowedGpuCounts);
      attempt = QUICK_TRIES - 1;
      continue;
    }
    if (await lockFreeSlots(tx, placement.slotIds, patient)) return placement;
    contested.add(placement.nodeId);
  }
  throw unavailable(request, { fits: false, rejections: [], largestSlice: 0 }, allowedGpuCounts);
}

function unavailable(
  request: SliceRequest,
  placement: Extract<Placement, { fits: false }>,
  allowedGpuCounts: number[],
): Problem {
  const fitting = allowedGpuCounts.filter((count) => count <= placement.largestSlice);
  const nearest = fitting.length > 0 ? Math.max(...fitting) : null;
  const gpus = request.gpuCount === 1 ? '1 GPU' : `${request.gpuCount} GPUs`;
  const hint =
    nearest === null
      ? 'Nothing is free in this region right now.'
      : `The largest that fits now has ${nearest}.`;
  return new Problem('sku_unavailable', `No single node can give ${gpus} at the moment. ${hint}`, {
    extensions: {
      requested_gpu_count: request.gpuCount,
      nearest_gpu_count: nearest,
      reasons: placement.rejections.map(({ filter, reason, nodes }) => ({ filter, reason, nodes })),
    },
  });
}
