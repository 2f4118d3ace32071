import type { Selectable, Updateable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Allocations } from '../../platform/db/generated/schema.ts';
import { present } from '../../platform/present.ts';
import { canTransition, type AllocationState } from './states.ts';

export type AllocationRow = Selectable<Allocations>;

/** The host of an allocation that was placed. */
export function hostOf({ id, node_id }: Pick<AllocationRow, 'id' | 'node_id'>): string {
  return present(node_id, `host of allocation ${id}`);
}

/**
 * The one place that changes an allocation's state. Returns null when it is already there, so that a step
 * that runs twice does its work once. The caller must have locked the row in this transaction.
 */
export async function transitionAllocation(
  tx: Tx,
  allocation: string | AllocationRow,
  to: AllocationState,
  change: Updateable<Allocations> = {},
): Promise<AllocationRow | null> {
  const row = typeof allocation === 'string' ? await lockAllocation(tx, allocation) : allocation;
  const from = row.state;
  if (from === to) return null;
  if (!canTransition(from, to)) throw new Error(`allocation ${row.id} cannot go from ${from} to ${to}`);
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

/** Locks several allocations by id, always in the same order. Throws if one does not exist. */
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
