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
 * that runs twice does its work once.
 */
export async function moveAllocation(
  tx: Tx,
  allocationId: string,
  to: AllocationState,
  change: Updateable<Allocations> = {},
): Promise<AllocationRow | null> {
  const row = await lockAllocation(tx, allocationId);
  const from = row.state as AllocationState;
  if (from === to) return null;
  if (!canMove(from, to)) throw new Error(`allocation ${allocationId} cannot go from ${from} to ${to}`);
  return await tx
    .updateTable('allocations')
    .set({ ...change, state: to })
    .where('id', '=', allocationId)
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
