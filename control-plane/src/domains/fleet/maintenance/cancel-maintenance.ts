import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { FleetNeeds } from '../needs.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { describeWindow, windowState, type MaintenanceWindow } from './maintenance-window.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { notifyTenants } from './schedule-maintenance.ts';
import { uncordonAfterMaintenance } from './watch-maintenance.ts';

/** Cancels a window, or ends it early. A window that is over stays unchanged. */
export async function cancelMaintenance(
  { leases }: Pick<FleetNeeds, 'leases'>,
  tx: Tx,
  request: { nodeId: string; windowId: string; now: Date; correlationId: string },
): Promise<MaintenanceWindow> {
  const { nodeId, windowId, now, correlationId } = request;
  await lockNode(tx, nodeId);
  const window = await tx
    .selectFrom('maintenance_windows')
    .selectAll()
    .where('id', '=', windowId)
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  if (!window) throw notFound();
  const state = windowState(window, now);
  if (state === 'over' || state === 'cancelled') return describeWindow(window, now);
  const cancelled = await tx
    .updateTable('maintenance_windows')
    .set({ cancelled_at: now })
    .where('id', '=', windowId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await notifyTenants(
    tx,
    'maintenance.cancelled',
    cancelled,
    await leases.listTenantAllocations(tx, nodeId),
    correlationId,
  );
  await uncordonAfterMaintenance(tx, nodeId, now);
  await emitNodeChanged(tx, nodeId, 'maintenance_changed', correlationId);
  return describeWindow(cancelled, now);
}
