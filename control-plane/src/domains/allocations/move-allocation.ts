import type { Selectable, Updateable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Allocations } from '../../platform/db/generated/schema.ts';
import { canMove, type AllocationState } from './states.ts';

export type AllocationRow = Selectable<Allocations>;

export function isBaremetal(allocation: Pick<AllocationRow, 'capacity_shape'>): boolean {
  return allocation.capacity_shape === 'baremetal';
}

/**
 * The one place that changes an allocation's state. Returns null when it is already there, so that a step
 * that runs twice does its work once. Takes the row from whoever has locked it in this transaction.
 */
export async function moveAllocation(
  tx: Tx,
  allocation: string | AllocationRow,
  to: AllocationState,
  change: Updateable<Allocations> = {},
): Promise<AllocationRow | null> {
  const row = typeof allocation === 'string' ? await lockAllocation(tx, allocation) : allocation;
  const from = row.state as AllocationState;
  if (from === to) return null;
  if (!canMove(from, to)) throw new Error(`allocation ${row.id} cannot go from ${from} to ${to}`);
  return await tx
    .updateTable('allocations')
    .set({ ...change, state: to })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function lockAllocation(tx: Tx, allocationId: string): Promise<AllocationRow> {
  return await tx
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Several by their ids, locked in one order for everybody. Throws where one does not exist. */
export async function lockAllocations(
  tx: Tx,
  allocationIds: readonly string[],
): Promise<Map<string, AllocationRow>> {
  const rows = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('id', 'in', allocationIds)
    .orderBy('id')
    .forUpdate()
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  const missing = allocationIds.find((id) => !found.has(id));
  if (missing) throw new Error(`there is no allocation ${missing}`);
  return found;
}
