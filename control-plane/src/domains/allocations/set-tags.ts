import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { findAllocation } from './find-allocation.ts';
import type { AllocationRow } from './transition-allocation.ts';

/** Replaces the tags of a lease, in the order of their names. */
export async function setTags(
  tx: Tx,
  caller: Caller,
  allocationId: string,
  tags: readonly string[],
): Promise<{ before: string[]; row: AllocationRow }> {
  const found = await findAllocation(tx, caller, 'allocation.create', allocationId, { lock: true });
  const row = await tx
    .updateTable('allocations')
    .set({ tags: tags.toSorted() })
    .where('id', '=', found.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before: found.tags, row };
}
