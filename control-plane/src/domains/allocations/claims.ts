import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';

/** The slots an allocation holds, as they were when it was sold. */
export async function claimedSlots(db: Db | Tx, allocationId: string): Promise<SlotBundle[]> {
  const rows = await db
    .selectFrom('allocation_resource_claims')
    .select('snapshot')
    .where('allocation_id', '=', allocationId)
    .where('claim_kind', '=', 'slot')
    .where('released_at', 'is', null)
    .execute();
  return rows
    .map((row) => row.snapshot as unknown as SlotBundle)
    .toSorted((a, b) => a.slot_index - b.slot_index);
}

/** How much an allocation still holds, of either kind. */
export async function liveClaims(db: Db | Tx, allocationId: string): Promise<number> {
  const row = await db
    .selectFrom('allocation_resource_claims')
    .select((e) => e.fn.countAll<bigint>().as('claims'))
    .where('allocation_id', '=', allocationId)
    .where('released_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(row.claims);
}

/** A claim ends exactly when the wipe of its slot is proven. */
export async function releaseClaim(tx: Tx, allocationId: string, slotId: string, at: Date): Promise<void> {
  await tx
    .updateTable('allocation_resource_claims')
    .set({ released_at: at })
    .where('allocation_id', '=', allocationId)
    .where('slot_id', '=', slotId)
    .where('released_at', 'is', null)
    .execute();
}

/** The claim on a whole host ends exactly when its cleanup is proven; the database checks it. */
export async function releaseNodeClaim(tx: Tx, allocationId: string, at: Date): Promise<void> {
  await tx
    .updateTable('allocation_resource_claims')
    .set({ released_at: at })
    .where('allocation_id', '=', allocationId)
    .where('claim_kind', '=', 'node_exclusive')
    .where('released_at', 'is', null)
    .execute();
}
