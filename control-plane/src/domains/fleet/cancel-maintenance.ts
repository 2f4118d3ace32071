import type { Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import { tenantsOn } from '../allocations/allocations-on-node.ts';
import { lockNode } from './lock-node.ts';
import { describeWindow, windowState, type MaintenanceWindow } from './maintenance-window.ts';
import { emitNodeChanged } from './node-events.ts';
import { tellTenants } from './schedule-maintenance.ts';
import { liftEndedMaintenance } from './watch-maintenance.ts';

/** Calls a window off, or ends it early. A window that is over stays as it was. */
export async function cancelMaintenance(
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
  await tellTenants(tx, 'maintenance.cancelled', cancelled, await tenantsOn(tx, nodeId), correlationId);
  await liftEndedMaintenance(tx, nodeId, now);
  await emitNodeChanged(tx, nodeId, 'maintenance_changed', correlationId);
  return describeWindow(cancelled, now);
}
