import { sql, type RawBuilder } from 'kysely';
import { first, present } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { actForTenantsSql, withRole } from '../../../platform/db/scope.ts';
import { emitEventsSql, type NewEvent } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { WorkflowStart } from '../../../platform/workflows/workflow-client.ts';
import type { SlotHold } from '../../fleet/index/fleet-index.ts';
import { slotsChanged } from '../../fleet/slots/transition-slots.ts';
import { allocationEvent } from '../../timeline/allocation-events.ts';
import { atRest } from '../execution.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { transitionAllocation, type AllocationRow } from '../transition-allocation.ts';
import { removeFromQueue } from '../queue/leave-queue.ts';
import type { LaunchOrder, NewAllocation } from './launch.ts';
import { leaseEnd } from './placement-request.ts';
import { provisionWorkflow, provisionWorkflowId } from './provision.workflow.ts';

/** A decided launch: its allocation, and the locked slots that it gets. */
export interface ReservedAllocation {
  allocation: NewAllocation & { node_id: string; ends_at: Date | null };
  slotIds: string[];
  gpuModel: string;
  /** The locked row of a launch that waited in the queue; null for a new launch. */
  queuedRow: AllocationRow | null;
}

export function reservedAllocation(
  { allocation, offer, request, queuedRow }: LaunchOrder,
  { nodeId, slotIds }: Pick<SlotHold, 'nodeId' | 'slotIds'>,
): ReservedAllocation {
  const placed = { ...allocation, node_id: nodeId, ends_at: leaseEnd(request) };
  return { allocation: placed, slotIds, gpuModel: offer.gpuModel, queuedRow };
}

/**
 * Writes decided launches: allocations, slot states, claims, events, workflows. New ones take one statement in total, so
 * that a batch costs little more than one launch. Needs the role `gpuaas_placement`.
 */
export async function recordReservedAllocations(
  services: Pick<Services, 'workflows'>,
  tx: Tx,
  reserved: readonly ReservedAllocation[],
): Promise<{ allocations: AllocationRow[]; xid: string }> {
  const queued = reserved.filter(({ queuedRow }) => queuedRow !== null);
  const dequeued = queued.length === 0 ? new Map() : await dequeue(tx, queued);
  const added = reserved.filter(({ queuedRow }) => queuedRow === null);
  const { rows: written } = await sql<{ at: Date; xid: string }>`
    select ${actForTenantsSql(reserved.map(({ allocation }) => allocation.organization_id))},
      insert_allocations(${allocationRows(added)}) as at, ${claimSlotsSql(reserved)}, ${emitAndStartSql(services, reserved)},
      pg_current_xact_id()::text as xid`.execute(tx);
  const { at, xid } = first(written, 'row of the statement');
  const rowOf = ({ allocation }: ReservedAllocation): AllocationRow =>
    dequeued.get(allocation.id) ?? reservedAllocationRow(allocation, at);
  return { allocations: reserved.map(rowOf), xid };
}

async function dequeue(tx: Tx, queued: readonly ReservedAllocation[]): Promise<Map<string, AllocationRow>> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const rows = new Map<string, AllocationRow>();
    for (const { allocation, queuedRow } of queued) {
      const { node_id, ends_at } = allocation;
      const change = { node_id, ends_at, ...atRest() };
      const row = await transitionAllocation(tx, present(queuedRow, 'queued row'), 'reserved', change);
      await removeFromQueue(tx, allocation.id);
      rows.set(allocation.id, present(row, 'queued row that moves'));
    }
    return rows;
  });
}

/** The argument of `insert_allocations`. */
export function allocationRows(reserved: readonly ReservedAllocation[]): string {
  return JSON.stringify(
    reserved.map(({ allocation: { per_gpu_hour_micros, ...rest } }) => ({
      ...rest,
      per_gpu_hour_micros: String(per_gpu_hour_micros),
    })),
  );
}

/** The slots that are taken, and the claims with their allocations. A claim without a slot is on the whole node. */
export function claimColumns(reserved: readonly ReservedAllocation[]) {
  const claims = reserved.flatMap(({ allocation, slotIds }) =>
    shapeOf(allocation)
      .claimed(slotIds)
      .map((slotId) => ({
        claimId: newId(),
        allocationId: allocation.id,
        slotId,
      })),
  );
  return {
    taken: reserved.flatMap(({ slotIds }) => slotIds),
    claims: claims.map(({ claimId }) => claimId),
    claimants: claims.map(({ allocationId }) => allocationId),
    claimed: claims.map(({ slotId }) => slotId),
  };
}

function claimSlotsSql(reserved: readonly ReservedAllocation[]): RawBuilder<void> {
  const { taken, claims, claimants, claimed } = claimColumns(reserved);
  return sql`claim_slots(${taken}::uuid[], ${claims}::uuid[], ${claimants}::uuid[], ${claimed}::uuid[])`;
}

/** The workflow that provisions each of them. */
export function provisionStarts(reserved: readonly ReservedAllocation[]): WorkflowStart[] {
  return reserved.map(({ allocation: { id, correlation_id } }) => ({
    workflowId: provisionWorkflowId(id),
    input: { allocationId: id, correlationId: correlation_id },
  }));
}

function emitAndStartSql(
  { workflows }: Pick<Services, 'workflows'>,
  reserved: readonly ReservedAllocation[],
): RawBuilder<void> {
  return sql`${emitEventsSql(reservedEvents(reserved))}, ${workflows.starting(provisionWorkflow, provisionStarts(reserved))}`;
}

/** Events of reserved allocations and of their nodes. */
export function reservedEvents(reserved: readonly ReservedAllocation[]): NewEvent[] {
  const nodes = new Map(reserved.map(({ allocation }) => [allocation.node_id, allocation.correlation_id]));
  return [
    ...reserved.flatMap(({ allocation, gpuModel }) => [
      allocationEvent(
        'allocation.reserved',
        { ...allocation, state: 'reserved' },
        {
          stage: 'placement',
          status: 'done',
          message: `${allocation.gpu_count} × ${gpuModel} reserved on one node`,
          percent: 100,
        },
      ),
      provisioningRequested(allocation),
    ]),
    ...Array.from(nodes, ([nodeId, correlationId]) => slotsChanged(nodeId, correlationId)),
  ];
}

/** The row that the database then has, without reading it. */
export function reservedAllocationRow(allocation: ReservedAllocation['allocation'], at: Date): AllocationRow {
  return {
    ...allocation,
    state: 'reserved',
    desired_state: 'active',
    observed_state: 'unknown',
    ...atRest(),
    created_at: at,
    state_changed_at: at,
    active_at: null,
    release_requested_at: null,
    release_attempts: 0,
    cleanup_workflow_id: null,
    released_at: null,
    failure: null,
    connection: null,
    machine_boot_id: null,
    machine_started_at: null,
    host_silent_since: null,
    machine_trouble: null,
    end_warned_for: null,
    root_granted_at: null,
  };
}

function provisioningRequested(allocation: ReservedAllocation['allocation']): NewEvent {
  const { id, organization_id, project_id, node_id, capacity_shape, gpu_count, sku, image, region } =
    allocation;
  return {
    type: 'provisioning.requested',
    subjectId: id,
    organizationId: organization_id,
    correlationId: allocation.correlation_id,
    payload: {
      allocation_id: id,
      organization_id,
      project_id,
      node_id,
      capacity_shape,
      gpu_count,
      sku,
      image,
      region,
    },
  };
}
