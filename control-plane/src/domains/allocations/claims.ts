import { sql } from 'kysely';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import { present } from '../../platform/present.ts';

/** The slots an allocation holds, as they were when it was sold. */
export async function claimedSlots(db: Db | Tx, allocationId: string): Promise<SlotBundle[]> {
  return (await claimedSlotsByAllocation(db, [allocationId])).get(allocationId) ?? [];
}

/** Processors and memory that an allocation was sold with its slots. */
export async function soldProfile(
  db: Db | Tx,
  allocationId: string,
): Promise<{ vcpu: number; memory_gib: number }> {
  const row = await db
    .selectFrom('allocation_resource_claims')
    .select([
      sql<number | null>`sum((snapshot ->> 'vcpu')::integer)::integer`.as('vcpu'),
      sql<number | null>`sum((snapshot ->> 'memory_gib')::integer)::integer`.as('memory_gib'),
    ])
    .where('allocation_id', '=', allocationId)
    .where('claim_kind', '=', 'slot')
    .where('released_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    vcpu: present(row.vcpu, 'the vCPU of a claim'),
    memory_gib: present(row.memory_gib, 'the memory of a claim'),
  };
}

/** Claimed slots by allocation; allocations without slots are omitted. */
export async function claimedSlotsByAllocation(
  db: Db | Tx,
  allocationIds: readonly string[],
): Promise<Map<string, SlotBundle[]>> {
  const rows = await db
    .selectFrom('allocation_resource_claims')
    // Hosts know devices alone; the profile is for the machine that is made of them.
    .select(['allocation_id', sql<SlotBundle>`snapshot - '{vcpu,memory_gib}'::text[]`.as('slot')])
    .where('allocation_id', 'in', allocationIds)
    .where('claim_kind', '=', 'slot')
    .where('released_at', 'is', null)
    .execute();
  const claims = rows.map((row) => ({
    allocationId: row.allocation_id,
    slot: row.slot,
  }));
  const inOrder = claims.toSorted((a, b) => a.slot.slot_index - b.slot.slot_index);
  const held = Map.groupBy(inOrder, ({ allocationId }) => allocationId);
  return new Map([...held].map(([id, own]) => [id, own.map(({ slot }) => slot)]));
}

/** How much an allocation still holds, of either kind. */
export async function liveClaims(db: Db | Tx, allocationId: string): Promise<number> {
  return (await liveClaimsByAllocation(db, [allocationId])).get(allocationId) ?? 0;
}

/** Live claims by allocation; allocations without claims are omitted. */
export async function liveClaimsByAllocation(
  db: Db | Tx,
  allocationIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('allocation_resource_claims')
    .select((e) => ['allocation_id', e.fn.countAll<bigint>().as('claims')])
    .where('allocation_id', 'in', allocationIds)
    .where('released_at', 'is', null)
    .groupBy('allocation_id')
    .execute();
  return new Map(rows.map(({ allocation_id, claims }) => [allocation_id, Number(claims)]));
}

export interface EndedClaim {
  allocationId: string;
  slotId: string;
}

/** A claim ends exactly when the wipe of its slot is proven. */
export async function releaseClaim(tx: Tx, allocationId: string, slotId: string, at: Date): Promise<void> {
  await releaseClaims(tx, [{ allocationId, slotId }], at);
}

/** Many in one statement: follow-up work, such as quota counters, then runs once. */
export async function releaseClaims(tx: Tx, ended: readonly EndedClaim[], at: Date): Promise<void> {
  if (ended.length === 0) return;
  await sql`
    update allocation_resource_claims c set released_at = ${at}
    from unnest(${ended.map(({ allocationId }) => allocationId)}::uuid[],
      ${ended.map(({ slotId }) => slotId)}::uuid[]) as e (allocation_id, slot_id)
    where c.allocation_id = e.allocation_id and c.slot_id = e.slot_id and c.released_at is null`.execute(tx);
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
