import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { FleetNeeds, TenantAllocation } from '../needs.ts';
import { cordonNode } from '../nodes/cordons.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { describeWindow, windowState, type MaintenanceWindow } from './maintenance-window.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';

export interface MaintenanceRequest {
  nodeId: string;
  startsAt: Date;
  endsAt: Date;
  reason: string;
  createdBy: string;
  now: Date;
  correlationId: string;
}

/** Announces the window and tells every project with a machine on the host. */
export async function scheduleMaintenance(
  { leases }: Pick<FleetNeeds, 'leases'>,
  tx: Tx,
  request: MaintenanceRequest,
): Promise<MaintenanceWindow> {
  const { nodeId, startsAt, endsAt, now } = request;
  refuseImpossible(request);
  await lockNode(tx, nodeId);
  const affected = await leases.listTenantAllocations(tx, nodeId);
  const window = await tx
    .insertInto('maintenance_windows')
    .values({
      id: newId(),
      node_id: nodeId,
      starts_at: startsAt,
      ends_at: endsAt,
      reason: request.reason,
      notified_allocations: affected.length,
      created_by: request.createdBy,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await notifyTenants(tx, 'maintenance.scheduled', window, affected, request.correlationId);
  if (windowState(window, now) === 'in_progress') {
    await cordonNode(tx, nodeId, { reason: 'maintenance', detail: window.reason, since: startsAt });
  }
  await emitNodeChanged(tx, nodeId, 'maintenance_changed', request.correlationId);
  return describeWindow(window, now);
}

export async function notifyTenants(
  tx: Tx,
  type: 'maintenance.scheduled' | 'maintenance.cancelled',
  window: { id: string; starts_at: Date; ends_at: Date; reason: string },
  tenants: readonly TenantAllocation[],
  correlationId: string,
): Promise<void> {
  for (const { allocationId, organizationId, projectId } of tenants) {
    await emit(tx, {
      type,
      subjectId: window.id,
      organizationId,
      correlationId,
      payload: {
        allocation_id: allocationId,
        organization_id: organizationId,
        project_id: projectId,
        window_id: window.id,
        starts_at: window.starts_at.toISOString(),
        ends_at: window.ends_at.toISOString(),
        reason: window.reason,
      },
    });
  }
}

function refuseImpossible({ startsAt, endsAt, now }: MaintenanceRequest): void {
  const errors = [
    ...(endsAt > startsAt
      ? []
      : [{ pointer: '/ends_at', code: 'ends_before_start', detail: 'must be after starts_at' }]),
    ...(endsAt > now ? [] : [{ pointer: '/ends_at', code: 'in_the_past', detail: 'lies in the past' }]),
  ];
  if (errors.length === 0) return;
  throw new Problem('maintenance_window_invalid', 'Nothing was scheduled.', { errors });
}
