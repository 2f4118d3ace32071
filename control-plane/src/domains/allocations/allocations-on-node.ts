import type { TaskParams } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { TenantAllocation } from '../fleet/needs.ts';
import { claimedSlots, claimedSlotsByAllocation } from './claims.ts';
import { desiredRules } from './ingress/request-ingress-update.ts';

/** How many claims bind the host now. */
export async function countLiveClaims(db: Db | Tx, nodeId: string): Promise<number> {
  const row = await db
    .selectFrom('claim_cells')
    .select((e) => e.fn.count<bigint>('claim_id').distinct().as('claims'))
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  return Number(row.claims);
}

/** Whose machines run on the host, or are about to. */
export async function listTenantAllocations(db: Db | Tx, nodeId: string): Promise<TenantAllocation[]> {
  return await db
    .selectFrom('allocations')
    .select(['id as allocationId', 'organization_id as organizationId', 'project_id as projectId'])
    .where('node_id', '=', nodeId)
    .where('state', 'in', ['reserved', 'provisioning', 'active'])
    .orderBy('id')
    .execute();
}

/** The machines that the host should run now, with their leased slots and their forwardings. */
export async function listDesiredMachines(
  db: Db | Tx,
  nodeId: string,
): Promise<TaskParams['slice.reconcile']['machines']> {
  const rows = await db
    .selectFrom('allocations')
    .select('id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'active')
    .orderBy('id')
    .execute();
  const machines = await Promise.all(
    rows.map(async ({ id }) => ({
      allocation_id: id,
      slots: await claimedSlots(db, id),
      ingress: await desiredRules(db, id),
    })),
  );
  // A lease of the whole host has no slots, and no machine either.
  return machines.filter(({ slots }) => slots.length > 0);
}

/** Slots of allocations whose machines are starting, ending or in quarantine: claimed, but not to run. */
export async function listHeldSlots(
  db: Db | Tx,
  nodeId: string,
): Promise<NonNullable<TaskParams['slice.reconcile']['held']>> {
  const rows = await db
    .selectFrom('allocation_resource_claims as c')
    .innerJoin('allocations as a', 'a.id', 'c.allocation_id')
    .select('a.id')
    .distinct()
    .where('c.node_id', '=', nodeId)
    .where('c.claim_kind', '=', 'slot')
    .where('c.released_at', 'is', null)
    .where('a.state', '!=', 'active')
    .orderBy('a.id')
    .execute();
  if (rows.length === 0) return [];
  const slots = await claimedSlotsByAllocation(
    db,
    rows.map(({ id }) => id),
  );
  return [...slots].map(([allocation_id, own]) => ({ allocation_id, slots: own }));
}

/** Hosts that one baremetal allocation holds, and whether its cleanup got stuck. */
export async function findBaremetalClaims(
  db: Db | Tx,
  nodeIds: string[],
): Promise<Map<string, { cleanupBlocked: boolean }>> {
  const rows = await db
    .selectFrom('claim_cells as e')
    .innerJoin('allocation_resource_claims as c', 'c.id', 'e.claim_id')
    .innerJoin('allocations as a', 'a.id', 'c.allocation_id')
    .select(['c.node_id', 'a.state'])
    .where('e.node_id', 'in', nodeIds)
    // A claim on the whole node takes every cell.
    .where('e.cell', '=', 0)
    .where('c.claim_kind', '=', 'node_exclusive')
    .execute();
  return new Map(
    rows.map((row) => [
      row.node_id,
      { cleanupBlocked: ['failed', 'release_failed', 'released'].includes(row.state) },
    ]),
  );
}
