import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import { respectsHolds } from '../../placement/filters/not-held.ts';
import { parseHolds, shapesOf, type StoredHold } from '../index/placement-candidates.ts';

export interface SlotLockRequest {
  slotIds: string[];
  request: PlacementRequest;
}

interface LockedSlot {
  slot_id: string;
  node_id: string;
  mode: string | null;
  region: string;
  gpu_model: string;
  promises: StoredHold[] | null;
}

/**
 * Locks the slots of each request and returns the requests whose slots may all still be sold. Everything that
 * placement checked in memory is checked again on the locked rows: slots against rivals, nodes against a
 * drain or a new mode. With `wait` it blocks on a rival's lock instead of skipping the slot. Needs the role
 * `gpuaas_placement`.
 */
export async function lockFreeSlots(
  policies: Policies,
  tx: Tx,
  wanted: readonly SlotLockRequest[],
  wait: boolean,
): Promise<boolean[]> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const { rows } = await sql<LockedSlot>`
    select * from lock_free_slots(${wanted.flatMap(({ slotIds }) => slotIds)}::uuid[], ${wait}, ${silence})`.execute(
    tx,
  );
  const locked = new Map(rows.map((row) => [row.slot_id, row]));
  return wanted.map(({ slotIds, request }) =>
    slotIds.every((slotId) => {
      const slot = locked.get(slotId);
      return slot !== undefined && suits(slot, request);
    }),
  );
}

function suits(slot: LockedSlot, request: PlacementRequest): boolean {
  const { shape, region, gpuModel } = request;
  return (
    shapesOf(slot.mode).includes(shape) &&
    (region === null || slot.region === region) &&
    (gpuModel === null || slot.gpu_model === gpuModel) &&
    respectsHolds(request, parseHolds(slot.promises))
  );
}
