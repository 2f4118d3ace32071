import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { emit, type NewEvent } from '../../../platform/events/emit.ts';
import type { SlotState } from '../health/posture.ts';

/** From which states each slot state may be entered. `available` also needs a wipe; the database checks it. */
const enteredFrom: Record<SlotState, readonly SlotState[]> = {
  disabled: ['available', 'cleaning', 'cleanup_blocked'],
  available: ['disabled', 'cleaning', 'cleanup_blocked'],
  reserved: ['available'],
  in_use: ['reserved'],
  cleaning: ['reserved', 'in_use', 'cleanup_blocked'],
  cleanup_blocked: ['reserved', 'in_use', 'cleaning'],
};

export interface SlotTransition {
  /** `unchanged` records the health alone. */
  to: SlotState | 'unchanged';
  health?: { state: 'healthy' | 'unhealthy'; detail: string };
  lastWipeId?: string;
}

/** Moves slots along the state table; a slot already in the state stays. Any other state is a defect. */
export async function transitionSlots(
  tx: Tx,
  slotIds: readonly string[],
  move: SlotTransition,
): Promise<void> {
  await transitionEachSlot(
    tx,
    slotIds.map((slotId) => ({ slotId, ...move })),
  );
}

/** Moves slots to different states, in two statements for any number of slots. */
export async function transitionEachSlot(
  tx: Tx,
  moves: readonly (SlotTransition & { slotId: string })[],
): Promise<void> {
  if (moves.length === 0) return;
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'state'])
    .where(
      'id',
      'in',
      moves.map(({ slotId }) => slotId),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  for (const { slotId, to } of moves) {
    const from = states.get(slotId);
    if (from && from !== to && to !== 'unchanged' && !enteredFrom[to].includes(from)) {
      throw new Error(`slot ${slotId} cannot go from ${from} to ${to}`);
    }
  }
  // An operator disabled the slot while it was leased; it leaves sale now.
  await sql`
    update node_resource_slots s set
      state = case when m.state = 'unchanged' then s.state
        when m.state = 'available' and s.desired_state <> 'for_sale' then 'disabled' else m.state end,
      health_state = coalesce(m.health_state, s.health_state),
      health_detail = coalesce(m.health_detail, s.health_detail),
      last_wipe_id = coalesce(m.wipe_id, s.last_wipe_id)
    from unnest(${moves.map(({ slotId }) => slotId)}::uuid[], ${moves.map(({ to }) => to)}::text[],
      ${moves.map(({ health }) => health?.state ?? null)}::text[],
      ${moves.map(({ health }) => health?.detail ?? null)}::text[],
      ${moves.map(({ lastWipeId }) => lastWipeId ?? null)}::uuid[])
      as m (id, state, health_state, health_detail, wipe_id)
    where s.id = m.id`.execute(tx);
}

/** Slots of a host that is leased as a whole move together; slots out of sale stay. */
export async function transitionNodeSlots(tx: Tx, nodeId: string, move: SlotTransition): Promise<void> {
  const { to } = move;
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'state'])
    .where('node_id', '=', nodeId)
    .orderBy('id')
    .forUpdate()
    .execute();
  const moving = rows.filter(
    ({ state }) => state !== 'disabled' && (to === 'unchanged' || enteredFrom[to].includes(state)),
  );
  if (moving.length === 0) return;
  await transitionSlots(
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
