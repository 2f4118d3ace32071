import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { actingFor } from '../../platform/db/scope.ts';
import { emitting, type NewEvent } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { WorkflowStart } from '../../platform/workflows/workflow-client.ts';
import { slotsChanged } from '../fleet/slot-states.ts';
import { allocationEvent } from './allocation-events.ts';
import type { AllocationRow } from './move-allocation.ts';
import { provisionWorkflow, provisionWorkflowId } from './provision.workflow.ts';

/** What is known of an allocation before it has a place. */
export type NewAllocation = Pick<
  AllocationRow,
  | 'id'
  | 'organization_id'
  | 'project_id'
  | 'name'
  | 'sku'
  | 'capacity_shape'
  | 'gpu_count'
  | 'image'
  | 'image_digest'
  | 'region'
  | 'currency'
  | 'per_gpu_hour_micros'
  | 'price_id'
  | 'created_by'
  | 'owner_user_id'
  | 'ssh_authorized_keys'
  | 'tags'
  | 'correlation_id'
>;

/** What was decided and is locked: an allocation and the slots it gets. */
export interface Sale {
  allocation: NewAllocation & { node_id: string; ends_at: Date | null };
  slotIds: string[];
  gpuModel: string;
}

/**
 * Writes what was decided: allocations, slot states, claims, events, workflows. One statement however many there are, so
 * that a group costs little more than one.
 */
export async function recordSales(
  services: Pick<Services, 'workflows'>,
  tx: Tx,
  sales: readonly Sale[],
): Promise<{ allocations: AllocationRow[]; xid: string }> {
  const { rows: written } = await sql<{ at: Date; xid: string }>`
    select ${actingFor(sales.map(({ allocation }) => allocation.organization_id))},
      insert_allocations(${allocationRows(sales)}) as at, ${claiming(sales)}, ${telling(services, sales)},
      pg_current_xact_id()::text as xid`.execute(tx);
  const { at, xid } = written[0]!;
  return { allocations: sales.map(({ allocation }) => reservedRow(allocation, at)), xid };
}

/** The same for allocations that exist already and are `reserved` by now. */
export async function recordStarts(
  services: Pick<Services, 'workflows'>,
  tx: Tx,
  sales: readonly Sale[],
): Promise<void> {
  await sql`select ${claiming(sales)}, ${telling(services, sales)}`.execute(tx);
}

/** The argument of `insert_allocations`. */
export function allocationRows(sales: readonly Sale[]): string {
  return JSON.stringify(
    sales.map(({ allocation: { per_gpu_hour_micros, ...rest } }) => ({
      ...rest,
      per_gpu_hour_micros: String(per_gpu_hour_micros),
    })),
  );
}

/** The slots that are taken, and the claims on them: who claims what. One without a slot is on the whole node. */
export function claimColumns(sales: readonly Sale[]) {
  const claims = sales.flatMap(({ allocation, slotIds }) =>
    (allocation.capacity_shape === 'baremetal' ? [null] : slotIds).map((slotId) => ({
      claimId: newId(),
      allocationId: allocation.id,
      slotId,
    })),
  );
  return {
    taken: sales.flatMap(({ slotIds }) => slotIds),
    claims: claims.map(({ claimId }) => claimId),
    claimants: claims.map(({ allocationId }) => allocationId),
    claimed: claims.map(({ slotId }) => slotId),
  };
}

function claiming(sales: readonly Sale[]): RawBuilder<void> {
  const { taken, claims, claimants, claimed } = claimColumns(sales);
  return sql`claim_slots(${taken}::uuid[], ${claims}::uuid[], ${claimants}::uuid[], ${claimed}::uuid[])`;
}

/** The workflow that provisions each of them. */
export function startsOf(sales: readonly Sale[]): WorkflowStart[] {
  return sales.map(({ allocation: { id, correlation_id } }) => ({
    workflowId: provisionWorkflowId(id),
    input: { allocationId: id, correlationId: correlation_id },
  }));
}

function telling({ workflows }: Pick<Services, 'workflows'>, sales: readonly Sale[]): RawBuilder<void> {
  return sql`${emitting(eventsOf(sales))}, ${workflows.starting(provisionWorkflow.name, startsOf(sales))}`;
}

/** What is told of them. */
export function eventsOf(sales: readonly Sale[]): NewEvent[] {
  const nodes = new Map(sales.map(({ allocation }) => [allocation.node_id, allocation.correlation_id]));
  return [
    ...sales.map(({ allocation, gpuModel }) =>
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
    ),
    ...Array.from(nodes, ([nodeId, correlationId]) => slotsChanged(nodeId, correlationId)),
  ];
}

/** The row as it then stands, without reading it again. */
export function reservedRow(allocation: Sale['allocation'], at: Date): AllocationRow {
  return {
    ...allocation,
    state: 'reserved',
    desired_state: 'active',
    observed_state: 'unknown',
    execution_state: 'idle',
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
