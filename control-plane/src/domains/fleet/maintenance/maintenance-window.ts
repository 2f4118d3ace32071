import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Selectable } from 'kysely';
import { platformResourceName } from '../../../platform/ids.ts';
import type { MaintenanceWindows } from '../../../platform/db/generated/schema.ts';

export type MaintenanceWindow = components['schemas']['MaintenanceWindow'];
type WindowRow = Selectable<MaintenanceWindows>;

/** State of a window at a time, derived from its dates. */
export function windowState(
  window: Pick<WindowRow, 'starts_at' | 'ends_at' | 'cancelled_at'>,
  now: Date,
): MaintenanceWindow['state'] {
  if (window.cancelled_at) return 'cancelled';
  if (now < window.starts_at) return 'scheduled';
  return now < window.ends_at ? 'in_progress' : 'over';
}

export function describeWindow(row: WindowRow, now: Date): MaintenanceWindow {
  return {
    id: row.id,
    resource_name: platformResourceName('global', 'maintenance_window', row.id),
    node_id: row.node_id,
    starts_at: row.starts_at.toISOString(),
    ends_at: row.ends_at.toISOString(),
    reason: row.reason,
    state: windowState(row, now),
    notified_allocations: row.notified_allocations,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    cancelled_at: row.cancelled_at?.toISOString() ?? null,
  };
}
