import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import { keepsPromises } from '../placement/filters/not-promised.ts';
import { readPromises, SERVES, type StoredPromise } from './placement-candidates.ts';

export interface WantedSlots {
  slotIds: string[];
  request: PlacementRequest;
}

interface LockedSlot {
  slot_id: string;
  node_id: string;
  mode: string;
  region: string;
  gpu_model: string;
  promises: StoredPromise[] | null;
}

/**
 * Locks what each one wants and says who may have it: whose slots may all still be sold. Everything that placement checked
 * in memory is checked again on the rows, which stay locked: slots against every rival, nodes against a drain or a new
 * mode. `wait` queues behind a rival instead of stepping aside. Needs the role `gpuaas_placement`.
 */
export async function lockFreeSlots(
  policies: Policies,
  tx: Tx,
  wanted: readonly WantedSlots[],
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
    (SERVES[slot.mode] ?? []).includes(shape) &&
    (region === null || slot.region === region) &&
    (gpuModel === null || slot.gpu_model === gpuModel) &&
    keepsPromises(request, readPromises(slot.promises))
  );
}
