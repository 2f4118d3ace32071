import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { emit, type NewEvent } from '../../platform/events/emit.ts';
import type { SlotState } from './posture.ts';

/** From which states each slot state may be entered. `available` also needs a wipe; the database checks it. */
const enteredFrom: Record<SlotState, readonly SlotState[]> = {
  disabled: ['available', 'cleaning', 'cleanup_blocked'],
  available: ['disabled', 'cleaning', 'cleanup_blocked'],
  reserved: ['available'],
  in_use: ['reserved'],
  cleaning: ['reserved', 'in_use', 'cleanup_blocked'],
  cleanup_blocked: ['reserved', 'in_use', 'cleaning'],
};

export interface SlotMove {
  to: SlotState;
  health?: { state: 'healthy' | 'unhealthy'; detail: string };
  lastWipeId?: string;
}

/** Moves slots along the state table; a slot that is already there stays. Anything else is a defect. */
export async function moveSlots(tx: Tx, slotIds: string[], move: SlotMove): Promise<void> {
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'state'])
    .where('id', 'in', slotIds)
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const row of rows) {
    const from = row.state as SlotState;
    if (from !== move.to && !enteredFrom[move.to].includes(from)) {
      throw new Error(`slot ${row.id} cannot go from ${from} to ${move.to}`);
    }
  }
  // Whoever wanted the slot out of sale while it was sold gets it now.
  const state =
    move.to === 'available'
      ? sql<string>`case when desired_state = 'for_sale' then 'available' else 'disabled' end`
      : move.to;
  await tx
    .updateTable('node_resource_slots')
    .set({
      state,
      ...(move.health ? { health_state: move.health.state, health_detail: move.health.detail } : {}),
      ...(move.lastWipeId ? { last_wipe_id: move.lastWipeId } : {}),
    })
    .where('id', 'in', slotIds)
    .execute();
}

/** The slots of a host that is leased as a whole move together; those that are out of sale stay. */
export async function moveNodeSlots(tx: Tx, nodeId: string, move: SlotMove): Promise<void> {
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'state'])
    .where('node_id', '=', nodeId)
    .orderBy('id')
    .forUpdate()
    .execute();
  const moving = rows.filter(
    ({ state }) => state !== 'disabled' && enteredFrom[move.to].includes(state as SlotState),
  );
  if (moving.length === 0) return;
  await moveSlots(
    tx,
    moving.map((row) => row.id),
    move,
  );
}

export async function emitSlotsChanged(tx: Tx, nodeId: string, correlationId: string): Promise<void> {
  await emit(tx, slotsChanged(nodeId, correlationId));
}

export function slotsChanged(nodeId: string, correlationId: string): NewEvent {
  return {
    type: 'node.slots_changed',
    subjectId: nodeId,
    organizationId: null,
    correlationId,
    payload: { node_id: nodeId },
  };
}
