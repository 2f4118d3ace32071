import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sql, type Insertable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Allocations } from '../../platform/db/generated/schema.ts';
import { emitAll } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { slotsChanged, takeSlots } from '../fleet/slot-states.ts';
import { allocationEvent } from './allocation-events.ts';
import type { AllocationRow } from './move-allocation.ts';
import { provisionWorkflow, provisionWorkflowId } from './provision.workflow.ts';

/** What was decided and is locked: an allocation and the slots it gets. */
export interface Sale {
  allocation: Omit<Insertable<Allocations>, 'state' | 'node_id'> & { node_id: string };
  slots: SlotBundle[];
  gpuModel: string;
}

/**
 * Writes what was decided: slot states, allocations, claims, events, workflows. One statement each however many there
 * are, so that a group costs little more than one. `write` brings the allocations into `reserved`.
 */
export async function recordSales(
  { workflows }: Pick<Services, 'workflows'>,
  tx: Tx,
  sales: readonly Sale[],
  write: (tx: Tx, sales: readonly Sale[]) => Promise<AllocationRow[]> = insertAllocations,
): Promise<AllocationRow[]> {
  if (sales.length === 0) return [];
  await takeSlots(
    tx,
    sales.flatMap(({ slots }) => slots.map(({ slot_id }) => slot_id)),
  );
  const allocations = await write(tx, sales);
  await insertClaims(tx, sales);
  const events = allocations.map((allocation, index) =>
    allocationEvent('allocation.reserved', allocation, {
      stage: 'placement',
      status: 'done',
      message: `${allocation.gpu_count} × ${sales[index]!.gpuModel} reserved on one node`,
      percent: 100,
    }),
  );
  const nodes = new Map(allocations.map((allocation) => [allocation.node_id!, allocation.correlation_id]));
  await emitAll(tx, [
    ...events,
    ...Array.from(nodes, ([nodeId, correlationId]) => slotsChanged(nodeId, correlationId)),
  ]);
  await workflows.startAll(
    tx,
    provisionWorkflow.name,
    allocations.map(({ id, correlation_id }) => ({
      workflowId: provisionWorkflowId(id),
      input: { allocationId: id, correlationId: correlation_id },
    })),
  );
  return allocations;
}

/** In the order of the sales. */
async function insertAllocations(tx: Tx, sales: readonly Sale[]): Promise<AllocationRow[]> {
  const rows = sales.map(({ allocation }) => ({
    ...allocation,
    per_gpu_hour_micros: String(allocation.per_gpu_hour_micros),
    state: 'reserved',
  }));
  const inserted = await sql<AllocationRow>`
    insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
      region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
      ssh_authorized_keys, correlation_id)
    select id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
      region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
      ssh_authorized_keys, correlation_id
    from json_populate_recordset(null::allocations, ${JSON.stringify(rows)})
    returning *`.execute(tx);
  const byId = new Map(inserted.rows.map((row) => [row.id, row]));
  return sales.map(({ allocation }) => byId.get(allocation.id)!);
}

async function insertClaims(tx: Tx, sales: readonly Sale[]): Promise<void> {
  const rows = sales.flatMap(({ allocation, slots }) => {
    const { id: allocation_id, node_id, ends_at } = allocation;
    const claims =
      allocation.capacity_shape === 'baremetal'
        ? [{ claim_kind: 'node_exclusive', slot_id: null, snapshot: { slots } }]
        : slots.map((slot) => ({ claim_kind: 'slot', slot_id: slot.slot_id, snapshot: slot }));
    return claims.map((claim) => ({ id: newId(), allocation_id, node_id, ends_at, ...claim }));
  });
  await sql`
    insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, ends_at, snapshot)
    select id, allocation_id, node_id, claim_kind, slot_id, ends_at, snapshot
    from json_populate_recordset(null::allocation_resource_claims, ${JSON.stringify(rows)})`.execute(tx);
}
